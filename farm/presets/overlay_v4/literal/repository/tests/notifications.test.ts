import assert from "node:assert/strict";
import { test } from "node:test";
import { recipients } from "../src/notifications.ts";

test("an address that is named twice hears once", () => {
  assert.deepEqual(recipients(["pier@harbour.test", "crane@harbour.test", "pier@harbour.test"]), [
    "pier@harbour.test",
    "crane@harbour.test",
  ]);
});

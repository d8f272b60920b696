import assert from "node:assert/strict";
import { test } from "node:test";
import { totalPrice } from "../src/billing.ts";

test("a bill of three moorings is their sum", () => {
  assert.equal(totalPrice([12, 30, 8]), 50);
});

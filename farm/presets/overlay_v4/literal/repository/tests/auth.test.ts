import assert from "node:assert/strict";
import { test } from "node:test";
import { maySignIn } from "../src/auth.ts";

test("a suspended visitor stays out, whatever the pass", () => {
  assert.equal(maySignIn({ hasPass: true, isSuspended: true }), false);
});

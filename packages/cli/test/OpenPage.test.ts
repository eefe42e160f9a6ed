import { assert, describe, it } from "vitest"
import { hasBrowser } from "../src/OpenPage.ts"

/** Where `delivery login` opens a browser by itself, and where it shows a code. */

describe("a computer", () => {
  for (const [environment, platform, expected] of [
    [{}, "darwin", true],
    [{}, "win32", true],
    [{}, "linux", false],
    [{ DISPLAY: "" }, "linux", false],
    [{ DISPLAY: ":0" }, "linux", true],
    [{ WAYLAND_DISPLAY: "wayland-0" }, "linux", true],
    [{ BROWSER: "firefox" }, "linux", true],
    [{ SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" }, "darwin", false],
    [{ SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22", DISPLAY: ":10" }, "linux", false],
    // An editor sets it that works over SSH, and opens pages where its user is.
    [{ SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22", BROWSER: "/opt/editor/browser.sh" }, "linux", true]
  ] as const) {
    it(`${expected ? "has" : "has no"} browser in front of its user on ${platform} with ${JSON.stringify(environment)}`, () => {
      assert.strictEqual(hasBrowser(environment, platform), expected)
    })
  }
})

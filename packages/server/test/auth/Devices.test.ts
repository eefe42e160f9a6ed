import { assert, describe, it } from "@effect/vitest"
import { deviceOf } from "../../src/auth/Devices.ts"

const cases: ReadonlyArray<readonly [string | undefined, string]> = [
  ["Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0", "Firefox on Linux"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15",
    "Safari on macOS"
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0 Safari/537.36 Edg/141.0",
    "Edge on Windows"
  ],
  [
    "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0 Mobile Safari/537.36",
    "Chrome on Android"
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0 Mobile/15E148 Safari/604.1",
    "Chrome on iPhone"
  ],
  ["curl/8.9.1", "Unknown browser"],
  [undefined, "Unknown browser"]
]

describe("The device of a session", () => {
  for (const [userAgent, device] of cases) {
    it(`${userAgent} is ${device}`, () => assert.strictEqual(deviceOf(userAgent), device))
  }
})

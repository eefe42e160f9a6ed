import { describe, expect, it } from "vitest"
import { withoutColours } from "../../src/ui/colours.ts"
import { formatDuration } from "../../src/ui/duration.ts"
import { counted, formatCount, formatRelative, shortSha, splitEnd, visible } from "../../src/ui/format.ts"
import { formatRate } from "../../src/ui/rate.ts"

/** Blanks that do not break and thin ones, as plain ones. */
const plain = (text: string) => text.replaceAll(/[\u00a0\u2009]/g, " ")

describe("How times, numbers and names are written", () => {
  it("writes durations with their two largest units", () => {
    const written = [
      0, 820, 999.6, 1_000, 4_240, 9_949, 9_950, 59_499, 60_000, 72_000, 3_600_000, 7_500_000, 90_000_000
    ]
    expect(written.map((millis) => plain(formatDuration(millis)))).toEqual([
      "0 ms",
      "820 ms",
      "1000 ms",
      "1.0 s",
      "4.2 s",
      "9.9 s",
      "10 s",
      "59 s",
      "1 m",
      "1 m 12 s",
      "1 h",
      "2 h 5 m",
      "1 d 1 h"
    ])
  })

  it("writes counts with thin spaces, and their nouns in the right number", () => {
    expect(formatCount(1_234_567)).toBe("1\u2009234\u2009567")
    expect([0, 1, 2_000].map((count) => plain(counted(count, "test")))).toEqual(["0 tests", "1 test", "2 000 tests"])
    expect(plain(counted(2, "pass", "passes"))).toBe("2 passes")
  })

  it("never rounds a rate up to what it is not", () => {
    expect([1, 0.9999, 0.5, 1 / 3, 0].map((rate) => plain(formatRate(rate)))).toEqual([
      "100 %",
      "99.9 %",
      "50 %",
      "33.3 %",
      "0 %"
    ])
  })

  it("writes instants beside now", () => {
    const now = new Date("2026-11-21T12:00:00Z")
    const at = (seconds: number) => formatRelative(new Date(now.getTime() + seconds * 1_000), now)
    expect([0, -9, -30, -90, -7_200, -86_400, 3_600].map((seconds) => plain(at(seconds)))).toEqual([
      "now",
      "now",
      "30 s ago",
      "1 m ago",
      "2 h ago",
      "1 d ago",
      "in 1 h"
    ])
    expect(at(-20 * 86_400)).toBe("Nov 1")
    expect(at(-400 * 86_400)).toBe("Oct 17, 2025")
  })

  it("cuts SHAs, and no other versions", () => {
    expect([shortSha("9fceb02d0ae598e95dc970b74767f19372d61af8"), shortSha("v2.14.0"), shortSha("9fceb02")]).toEqual([
      "9fceb02",
      "v2.14.0",
      "9fceb02"
    ])
    // Longer than the id of a commit.
    expect(shortSha("0c3d6e9f2a5b81470c3d6e9f2a5b81470c3d6e9f1d4e7f0")).toBe(
      "0c3d6e9f2a5b81470c3d6e9f2a5b81470c3d6e9f1d4e7f0"
    )
  })

  it("keeps the end of paths whole", () => {
    expect(splitEnd("tests/checkout/pays-by-card.spec.ts")).toEqual(["tests/checkout", "/pays-by-card.spec.ts"])
    expect(splitEnd("main")).toEqual(["", "main"])
    expect(splitEnd("x".repeat(100)).map((part) => part.length)).toEqual([86, 14])
  })

  it("shows what would turn or hide text, and drops the colours of a terminal", () => {
    expect(visible("a\u202eb\u0000\tc\n")).toBe("a\\u{202E}b\\u{0}\tc\n")
    expect(withoutColours("\u001b[31mred\u001b[39m")).toBe("red")
  })
})

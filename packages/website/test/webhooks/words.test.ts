import { describe, expect, it } from "vitest"
import { addressOf, areNamed, attemptText, hostOf, kindsText } from "../../src/webhooks/words.ts"

describe("Webhooks in words", () => {
  it("say what is sent", () => {
    expect(kindsText({ kinds: null, team: null })).toBe("all events")
    expect(kindsText({ kinds: ["run_finished", "team_member_added"], team: null })).toBe(
      "Run finished, Team member added"
    )
    expect(kindsText({ kinds: ["a", "b", "c", "d"], team: null })).toBe("4\u00a0kinds")
    expect([areNamed(["a", "b", "c"]), areNamed(["a", "b", "c", "d"])]).toEqual([true, false])
  })

  it("say what a try came to, whatever the server calls it", () => {
    const at = "2026-11-21T09:30:01.000Z"
    expect(attemptText({ at, status: 204, error: null, durationMs: 87 })).toBe("204 in 87\u00a0ms")
    expect(attemptText({ at, status: null, error: "timeout", durationMs: 10_000 })).toBe(
      "no answer in time in 10\u00a0s"
    )
    expect(attemptText({ at, status: null, error: "new_word", durationMs: 1 })).toBe("new_word in 1\u00a0ms")
  })

  it("show the host alone, since the rest may be a secret", () => {
    expect(hostOf("https://hooks.slack.com/services/T0/B0/x")).toBe("hooks.slack.com")
    expect(hostOf("no address")).toBe("no address")
  })

  it("are told apart where they have one host, without what may be a secret", () => {
    const urls = [
      "http://127.0.0.1:34795/deploys",
      "http://127.0.0.1:34795/hooks/failures/",
      "http://127.0.0.1:34795",
      "http://127.0.0.1:34795/services/T0/B0/abcdefghijklmnopqrstuvwx",
      "https://chat.example/services/secret"
    ]
    expect(urls.map((url) => addressOf(url, urls))).toEqual([
      "127.0.0.1:34795 …/deploys",
      "127.0.0.1:34795 …/failures",
      "127.0.0.1:34795 /",
      "127.0.0.1:34795 …uvwx",
      "chat.example"
    ])
  })
})

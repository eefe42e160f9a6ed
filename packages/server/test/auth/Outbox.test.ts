import { Cause, Clock, Effect, Layer, Logger } from "effect"
import { inspect } from "node:util"
import { afterAll, assert, describe, it } from "vitest"
import { inviteLetter, type Letter } from "../../src/auth/Letters.ts"
import { Outbox } from "../../src/auth/Outbox.ts"
import { Settings } from "../../src/Config.ts"
import { eventually, standingClock, unique } from "../support/Http.ts"
import { startMailServer } from "../support/MailServer.ts"

/** How mail is sent, and what is told when it is not. */

const mail = await startMailServer()
afterAll(() => mail.close())

const newEmail = () => `${unique("outbox")}@example.com`

const letterTo = (to: string): Letter => ({ to, subject: "Hello", text: "ltk_secret\n", html: "<p>ltk_secret</p>" })

/** Runs with an outbox for which no time passes unless it is advanced; answers all that was logged. */
const withOutbox = async (
  use: (
    post: (letter: Letter) => Promise<boolean>,
    advance: ReturnType<typeof standingClock>["advance"]
  ) => Promise<void>
): Promise<string> => {
  const lines: Array<string> = []
  const logger = Logger.make(({ cause, message }) => void lines.push(inspect(message), Cause.pretty(cause)))
  const { advance, clock } = standingClock()
  await Effect.gen(function* () {
    const { post } = yield* Outbox
    yield* Effect.promise(() => use((letter) => Effect.runPromise(post(Effect.succeed(letter))), advance))
  }).pipe(
    Effect.provide(
      Outbox.layer.pipe(
        Layer.provide(Settings.layer(mail.environment)),
        Layer.provide([Logger.layer([logger]), Layer.succeed(Clock.Clock, clock)])
      )
    ),
    Effect.runPromise
  )
  return lines.join("\n")
}

describe("The outbox", () => {
  it("tries again where a mail server is busy", async () => {
    const to = newEmail()
    const log = await withOutbox(async (post, advance) => {
      const before = mail.refused()
      mail.refuse(451, 421)
      assert.isTrue(await post(letterTo(to)))
      await eventually(
        async () => {
          if (mail.refused() > before) advance("1 second")
          return mail.to(to).length
        },
        (count) => count === 1
      )
      assert.strictEqual(mail.refused(), before + 2)
    })
    assert.strictEqual(log, "")
  })

  it("gives up where a mail server refuses for good, and tells neither whom nor what", async () => {
    const to = newEmail()
    const log = await withOutbox(async (post) => {
      const before = mail.refused()
      mail.refuse(550)
      assert.isTrue(await post(letterTo(to)))
      await eventually(
        async () => mail.refused(),
        (count) => count === before + 1
      )
      // The next one is sent.
      const other = newEmail()
      await post(letterTo(other))
      await eventually(
        async () => mail.to(other).length,
        (count) => count === 1
      )
    })
    assert.deepStrictEqual(mail.to(to), [])
    assert.include(log, "A mail could not be sent.")
    assert.include(log, "EMESSAGE, status 550")
    assert.notInclude(log, to)
    assert.notInclude(log, "ltk_")
  })

  it("keeps a mail to its headers and its recipient, whatever it is about", async () => {
    const to = newEmail()
    const hostile = `A\r\nBcc: thief@example.com\r\n\r\n<b>B</b>\u2028\u0000`
    const letter = inviteLetter({
      to,
      workspace: hostile,
      inviter: hostile,
      role: "viewer",
      url: `https://delivery.example/invites/"><b>`,
      expiresAt: "2026-11-28T09:30:00.000Z"
    })
    await withOutbox(async (post) => {
      await post(letter)
      const { attachments, bcc, html, recipients, subject, text } = await mail.next(to, "invite")
      assert.deepStrictEqual([recipients, bcc, attachments], [[to], undefined, []])
      const shown = `"A\\u{000D}\\u{000A}Bcc: thief@example.com\\u{000D}\\u{000A}\\u{000D}\\u{000A}<b>B</b>\\u{2028}\\u{0000}"`
      assert.strictEqual(subject, `An invitation to the workspace ${shown}`)
      assert.include(text, `${shown} invites you to the workspace ${shown}, with the role viewer.`)
      assert.include(text, "until 2026-11-28 09:30 UTC")
      assert.notInclude(html!, "<b>")
    })
  })

  it("takes nothing without a mail server", async () => {
    const { isSet, taken } = await Effect.gen(function* () {
      const { isSet, post } = yield* Outbox
      return { isSet, taken: yield* post(Effect.die("It is not to be written.")) }
    }).pipe(Effect.provide(Layer.provide(Outbox.layer, Settings.layer({}))), Effect.runPromise)
    assert.deepStrictEqual([isSet, taken], [false, false])
  })
})

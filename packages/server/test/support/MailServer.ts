import { once } from "node:events"
import PostalMime, { type Email } from "postal-mime"
import { SMTPServer, type SMTPServerError } from "smtp-server"
import { assert } from "vitest"

/** A mail server on the loopback address, which keeps what it takes. */

export interface ReceivedMail extends Email {
  /** As it came. */
  readonly raw: string
  readonly recipients: ReadonlyArray<string>
}

export type MailKind = "sign-in" | "proof" | "invite" | "device"

const subjects: Readonly<Record<MailKind, RegExp>> = {
  "sign-in": /^Sign in to /,
  proof: /^Verify your address for /,
  invite: /^An invitation to /,
  device: /^A new device /
}

export interface MailServer {
  readonly url: string
  /** What a server of the service needs to send its mail here. */
  readonly environment: Readonly<Record<string, string>>
  /** All that came to an address. */
  readonly to: (address: string) => ReadonlyArray<ReceivedMail>
  /** The first mail of this kind to the address that was not answered yet; waits for it. */
  readonly next: (address: string, kind: MailKind) => Promise<ReceivedMail>
  /** How the next mails are answered, one after the other, instead of being taken. */
  readonly refuse: (...codes: ReadonlyArray<number>) => void
  /** How many mails were refused. */
  readonly refused: () => number
  readonly close: () => Promise<void>
}

const stop = (server: SMTPServer): Promise<void> => new Promise((resolve) => server.close(() => resolve()))

const read = async (stream: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

export const startMailServer = async (): Promise<MailServer> => {
  const mails: Array<ReceivedMail> = []
  const answered = new Set<ReceivedMail>()
  const waiting = new Set<() => void>()
  const codes: Array<number> = []
  let refused = 0
  const take = async (stream: AsyncIterable<Buffer>, recipients: ReadonlyArray<string>) => {
    const raw = await read(stream)
    const code = codes.shift()
    if (code !== undefined) {
      refused++
      const error: SMTPServerError = new Error(`No mail for ${recipients.join(", ")}: ${raw}`)
      error.responseCode = code
      throw error
    }
    mails.push({ ...(await PostalMime.parse(raw)), raw, recipients })
    for (const look of waiting) look()
  }
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    onData: (stream, { envelope }, callback) => {
      const recipients = envelope.rcptTo.map(({ address }) => address)
      // oxlint-disable-next-line promise/no-callback-in-promise -- The library takes no promise.
      take(stream, recipients).then(() => callback(), callback)
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server.server, "listening")
  const { port } = server.server.address() as { port: number }
  const url = `smtp://127.0.0.1:${port}`
  const to = (address: string) => mails.filter(({ recipients }) => recipients.includes(address))
  const unread = (address: string, kind: MailKind) =>
    to(address).find((mail) => !answered.has(mail) && subjects[kind].test(mail.subject ?? ""))
  return {
    url,
    environment: { SMTP_URL: url, MAIL_FROM: "Delivery <delivery@example.com>" },
    to,
    next: (address, kind) =>
      new Promise((resolve) => {
        const look = () => {
          const mail = unread(address, kind)
          if (mail === undefined) return
          waiting.delete(look)
          answered.add(mail)
          resolve(mail)
        }
        waiting.add(look)
        look()
      }),
    refuse: (...next) => void codes.push(...next),
    refused: () => refused,
    close: () => stop(server)
  }
}

const found = (pattern: RegExp, { text }: ReceivedMail): string => {
  const match = pattern.exec(text ?? "")
  assert.isNotNull(match, text)
  return match![1]!
}

/** The token of the link in a mail. */
export const tokenIn = (mail: ReceivedMail): string => found(/((?:ltk|itk)_[0-9A-Za-z]{42})/, mail)

/** The code in a mail. */
export const codeIn = (mail: ReceivedMail): string => found(/^ *([2-9A-HJ-NP-Z]{8})$/m, mail)

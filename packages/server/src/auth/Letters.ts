import { visible } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { escaped } from "../http/Escaped.ts"
import type { InviteMail } from "../identity/Mail.ts"

/** What the service mails, as plain text and as HTML. Names are others' words: they stay on their line, and are no markup. */

export interface Letter {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** A paragraph, a link that stands alone, or a code to be typed. */
type Part = string | { readonly link: string; readonly label: string } | { readonly code: string }

const textOf = (part: Part): string => {
  if (typeof part === "string") return part
  return "code" in part ? `    ${part.code}` : `    ${part.link}`
}

const htmlOf = (part: Part): string => {
  if (typeof part === "string") return `<p>${escaped(part)}</p>`
  return "code" in part
    ? `<p style="font: bold 1.5em monospace; letter-spacing: .1em">${escaped(part.code)}</p>`
    : `<p><a href="${escaped(part.link)}">${escaped(part.label)}</a></p>`
}

const letter = (to: string, subject: string, parts: ReadonlyArray<Part>): Letter => ({
  to,
  subject,
  text: `${parts.map(textOf).join("\n\n")}\n`,
  html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(subject)}</title></head>
<body style="font: 16px/1.5 system-ui, sans-serif">
${parts.map(htmlOf).join("\n")}
</body>
</html>
`
})

/**
 * A name in a sentence: on one line, with nothing hidden, and told from the sentence. Mail programs make links of what looks like
 * an address, and whoever names a workspace could have the service mail theirs to strangers. A space breaks each.
 */
const named = (name: string): string => `"${visible(name).replaceAll(addressParts, "$& ")}"`

/** Where a host or a scheme goes on: dots, also those of other scripts, which browsers take for dots, and colons. */
const addressParts = /(?<=\S)[.\u3002\uFF0E\uFF61](?=\p{L})|(?<=\p{L}):(?=\S)/gu

const wordsOf = (millis: number): string => {
  const [count, unit] =
    millis < 120_000 ? [Math.round(millis / 1000), "second"] : [Math.round(millis / 60_000), "minute"]
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}

const when = (at: Timestamp): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`

export interface Asker {
  readonly device: string
  readonly address: string
}

const from = ({ address, device }: Asker): string => `${device}, at the network address ${address}`

/** A mailed proof, as its letter shows it. */
export interface Proof {
  readonly to: string
  readonly code: string
  readonly url: string
  readonly millis: number
  readonly asker: Asker
}

export const signInLetter = ({ asker, code, millis, to, url }: Proof, baseUrl: string): Letter =>
  letter(to, "Sign in to the Workspace Delivery Service", [
    `Somebody asked to sign in at ${baseUrl}/sign-in with this address: ${from(asker)}.`,
    "If it was you, type this code there:",
    { code },
    "Or open this link in the same browser, and press its button:",
    { link: url, label: "Sign in" },
    `Either works once, for ${wordsOf(millis)}. Tell nobody the code: the service never asks for it elsewhere.`,
    "If it was not you, do nothing. Without this email nobody gets in."
  ])

/** It repeats no name: whoever asked chose their own, and the address may be somebody else's. */
export const proofLetter = ({ asker, code, millis, to, url }: Proof, baseUrl: string): Letter =>
  letter(to, "Verify your address for the Workspace Delivery Service", [
    `Somebody who is signed in at ${baseUrl}/sign-in says that this address is theirs: ${from(asker)}.`,
    "If it was you, type this code there:",
    { code },
    "Or open this link in a browser in which you are signed in, and press its button:",
    { link: url, label: "Verify my address" },
    `Either works once, for ${wordsOf(millis)}.`,
    "If it was not you, do nothing, and tell nobody the code."
  ])

export const inviteLetter = ({ expiresAt, inviter, role, to, url, workspace }: InviteMail): Letter =>
  letter(to, `An invitation to the workspace ${named(workspace)}`, [
    `${named(inviter)} invites you to the workspace ${named(workspace)}, with the role ${role}.`,
    "Open this link to accept:",
    { link: url, label: "Accept the invitation" },
    `It works once, until ${when(expiresAt)}. It was emailed to you alone: do not pass it on.`,
    "If you do not know who invites you, do nothing."
  ])

export const newDeviceLetter = (
  { at, asker, to }: { readonly to: string; readonly asker: Asker; readonly at: Timestamp },
  baseUrl: string
): Letter =>
  letter(to, "A new device signed in to the Workspace Delivery Service", [
    `Somebody signed in to your account at ${baseUrl} with a device that was not seen before: ${from(asker)}, on ${when(at)}.`,
    "If it was you, there is nothing to do.",
    "If it was not you, open your account. There you can end that session, remove ways to sign in that are not yours, and revoke API keys and coding agents:",
    { link: `${baseUrl}/sign-in`, label: "Your account" },
    "Tell whoever runs the service, too."
  ])

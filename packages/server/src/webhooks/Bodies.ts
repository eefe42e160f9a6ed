import { shortened } from "@delivery/domain/catalog/ShortVersion"
import type { Change, Event } from "@delivery/domain/events/Event"
import { firstCharacters } from "@delivery/domain/Text"
import type { WebhookFormat } from "@delivery/domain/webhooks/Webhook"
import { runTextOf } from "./RunText.ts"

/** What is sent of an event, in each format (docs/contract.md, Webhooks). */
export const bodyOf = (format: WebhookFormat, event: Event): string =>
  JSON.stringify(
    format === "slack" ? { text: slackText(event) } : { type: event.kind, timestamp: event.createdAt, data: event }
  )

/** Slack cuts what is longer. */
const maxSlackText = 3_000

/** Marks that turn the text that follows them, which is what others have written, and what a terminal would obey. */
const unseen = /[\u200E\u200F\u202A-\u202E\u2066-\u2069]|[^\P{Cc}\s]/gu

/** What Slack would else take for mentions, links and entities. */
const escaped = (text: string): string =>
  text
    .replaceAll(unseen, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/\s+/g, " ")

const shown = (text: string | null): string => {
  if (text === null) return "none"
  const first = firstCharacters(text, 100)
  return `${escaped(first)}${first === text ? "" : "…"}`
}

const shownChange = ({ field, from, to }: Change): string => {
  const [before, after] = field === "version" ? [from && shortened(from), to && shortened(to)] : [from, to]
  return `• ${escaped(field)}: ${shown(before)} → ${shown(after)}`
}

/** What the service does by itself, for whoever set it up, is nothing that person has just done. */
const ownPart = ({ actor, changes, kind }: Event, isOfRun: boolean) => {
  const name = actor.kind === "removed" ? "Somebody" : escaped(actor.name)
  const by = isOfRun ? undefined : changes.find(({ field, from, to }) => field === "by" && from === null && to !== null)
  return {
    who: by === undefined ? name : `${shown(by.to)}, for ${name}`,
    lines: kind === "ticket_unmuted" ? ["its tests count again"] : [],
    changes: changes.filter((change) => change !== by)
  }
}

const slackText = (event: Event): string => {
  const { kind, subject } = event
  // A bar would end the address.
  const link = `<${escaped(subject.url).replaceAll("|", "%7C")}|${escaped(firstCharacters(subject.label, 200))}>`
  const run = runTextOf(event)
  const own = ownPart(event, run !== undefined)
  const changes = (run?.rest ?? own.changes).map(shownChange)
  const lines = [
    ...[...own.lines, ...(run?.lines ?? [])].map((line) => `• ${escaped(firstCharacters(line, 300))}`),
    ...changes
  ]
  let text = `${own.who}: ${escaped(kind.replaceAll("_", " "))} ${link}${escaped(firstCharacters(run?.of ?? "", 600)).trimEnd()}`
  for (const line of lines) if (text.length + line.length < maxSlackText) text += `\n${line}`
  return text
}

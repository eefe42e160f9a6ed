import { Schema } from "effect"
import { Actor } from "../identity/Actor.ts"
import { PersonId } from "../Ids.ts"
import { Timestamp } from "../Timestamp.ts"

/** How many earlier texts of a ticket are kept, of its description and its plan together; and of a project. */
export const maxEarlierTexts = 100

/** How many bytes of UTF-8 they have together. */
export const maxEarlierBytes = 1_000_000

/** How many a page has at most. */
export const earlierTextsPage = 20

/** The texts of tickets whose earlier versions are kept. */
export const TextField = Schema.Literals(["description", "plan"])
export type TextField = typeof TextField.Type

/** Who replaced an earlier text of a ticket or a project, and when. */
export const replaced = { replacedBy: Actor, replacedAt: Timestamp }

export const exampleReplaced = {
  replacedBy: {
    kind: "user",
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
    name: "Ana Diaz",
    email: "ana@example.com"
  },
  replacedAt: "2026-11-21T10:00:00.000Z"
} as const

/** A description or plan that another one took the place of (docs/contract.md, Earlier texts). */
export const EarlierText = Schema.Struct({
  number: Schema.Int.annotate({
    description: "The number of the change in the ticket: later changes have higher ones."
  }),
  field: TextField.annotate({ description: "Which text of the ticket it was." }),
  text: Schema.NullOr(Schema.String).annotate({
    description: "The whole text, in Markdown, as it was before the change; null if there was none."
  }),
  ...replaced
}).annotate({
  identifier: "EarlierText",
  description: "A description or plan that a ticket had, with who replaced it, and when.",
  examples: [
    {
      number: 3,
      field: "description",
      text: "The checkout takes Visa.",
      ...exampleReplaced
    }
  ]
})
export type EarlierText = typeof EarlierText.Type

export const EarlierTexts = Schema.Struct({
  texts: Schema.Array(EarlierText),
  nextCursor: Schema.NullOr(Schema.Int).annotate({
    description: "Send it as `cursor`, with the same `field`, to get the next page. Null on the last page.",
    examples: [null]
  })
}).annotate({
  identifier: "EarlierTexts",
  description: "Earlier texts of a ticket, the last replaced first."
})
export type EarlierTexts = typeof EarlierTexts.Type

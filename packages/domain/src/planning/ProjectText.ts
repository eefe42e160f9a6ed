import { Schema } from "effect"
import { exampleReplaced, replaced } from "./TicketText.ts"

/** A document of a project that another one took the place of (docs/contract.md, Earlier texts). */
export const EarlierDocument = Schema.Struct({
  number: Schema.Int.annotate({
    description: "The number of the change in the project: later changes have higher ones."
  }),
  text: Schema.NullOr(Schema.String).annotate({
    description: "The whole document, in Markdown, as it was before the change; null if there was none."
  }),
  ...replaced
}).annotate({
  identifier: "EarlierDocument",
  description: "A document that a project had, with who replaced it, and when.",
  examples: [
    {
      number: 3,
      text: "# Goal\n\nFewer people leave the checkout.",
      ...exampleReplaced
    }
  ]
})
export type EarlierDocument = typeof EarlierDocument.Type

export const EarlierDocuments = Schema.Struct({
  texts: Schema.Array(EarlierDocument),
  nextCursor: Schema.NullOr(Schema.Int).annotate({
    description: "Send it as `cursor` to get the next page. Null on the last page.",
    examples: [null]
  })
}).annotate({
  identifier: "EarlierDocuments",
  description: "Earlier documents of a project, the last replaced first."
})
export type EarlierDocuments = typeof EarlierDocuments.Type

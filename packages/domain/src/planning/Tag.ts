import { Schema, SchemaTransformation } from "effect"
import { Body } from "../Body.ts"
import { TagId, TeamId } from "../Ids.ts"
import { Name, Ref } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { TeamRef } from "./Team.ts"

/** A color, stored in lower case. */
const Color = Schema.String.annotate({
  description: "The color, as `#rrggbb`. It is stored in lower case.",
  examples: ["#d73a4a"]
})
  .check(Schema.isPattern(/^#[0-9a-fA-F]{6}$/u, { message: "Expected a color, #rrggbb" }))
  .pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transform({ decode: (color) => color.toLowerCase(), encode: (color) => color })
    )
  )

/** A label for tickets, of a team or of the whole workspace (docs/contract.md, Tags). */
export const Tag = Schema.Struct({
  id: TagId,
  name: Schema.String,
  color: Schema.String.annotate({ description: "The color, as `#rrggbb` in lower case." }),
  team: Schema.NullOr(TeamRef).annotate({
    description: "The team that the tag belongs to; null for a tag of the whole workspace."
  }),
  createdAt: Timestamp
}).annotate({
  identifier: "Tag",
  description: "A label for tickets, of a team or of the whole workspace.",
  examples: [
    {
      id: TagId.make("0197a1b2-0000-7000-8000-000000000e21"),
      name: "Bug",
      color: "#d73a4a",
      team: {
        id: TeamId.make("0197a1b2-0000-7000-8000-000000000e01"),
        key: "ENG",
        name: "Engineering",
        visibility: "open"
      },
      createdAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type Tag = typeof Tag.Type

export const CreateTag = Body({
  name: Name(40),
  color: Color,
  team: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({
      description:
        "The team that the tag belongs to, by key. Leave it out, or send null, for a tag of the whole workspace."
    })
  )
}).annotate({
  identifier: "CreateTag",
  description: "The fields of a new tag.",
  examples: [{ name: "Bug", color: "#d73a4a", team: "ENG" }]
})
export type CreateTag = typeof CreateTag.Type

export const UpdateTag = Body({
  name: Schema.optionalKey(Name(40)),
  color: Schema.optionalKey(Color)
}).annotate({
  identifier: "UpdateTag",
  description: "The fields to change. The team of a tag cannot change.",
  examples: [{ name: "Defect" }]
})
export type UpdateTag = typeof UpdateTag.Type

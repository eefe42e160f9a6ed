import type { Actor, Person } from "@delivery/domain/identity/Actor"
import type { AgentId, CommentId, PersonId, TeamId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type { Mentions } from "@delivery/domain/planning/Mentions"
import type { TeamVisibility } from "@delivery/domain/planning/Team"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { instant, integer, nullable, type Row, table, text, uuid, words } from "../storage/Table.ts"
import type { Viewer } from "./Viewer.ts"

/** The comments on tickets. */
export const comments = table("comments", {
  id: uuid<CommentId>(),
  workspaceId: uuid<WorkspaceId>(),
  ticketId: uuid<TicketId>(),
  body: text(),
  authorKind: text<ActorRef["kind"]>(),
  authorId: uuid<ActorRef["id"]>(),
  createdAt: instant(),
  editedAt: nullable(instant())
})

export type CommentRow = Row<typeof comments>

/**
 * Whom a comment mentions or ever mentioned. In memory by `${commentId}/${kind}/${subjectId}`. `position` is the place
 * among the persons or agents that the text mentions; null where an edit took the mention out.
 */
export const commentMentions = table("comment_mentions", {
  workspaceId: uuid<WorkspaceId>(),
  commentId: uuid<CommentId>(),
  kind: text<"user" | "agent">(),
  subjectId: uuid<PersonId | AgentId>(),
  position: nullable(integer())
})

export type CommentMentionRow = Row<typeof commentMentions>

/** The words of comments, as the search of tickets finds them, and of which text they are. Only SQL has them. */
export const commentWords = table("comment_words", {
  commentId: uuid<CommentId>(),
  ticketId: uuid<TicketId>(),
  workspaceId: uuid<WorkspaceId>(),
  bodyMd5: text(),
  words: words()
})

/** Comments whose words are not stored yet: servers of before their search wrote them. Only SQL has them. */
export const unwordedComments = table("unworded_comments", { commentId: uuid<CommentId>() })

export interface MentionedAgent {
  readonly id: AgentId
  readonly name: string
  readonly person: Person
}

/** A comment with the names of those who wrote it and whom it mentions. */
export interface CommentDetails extends CommentRow {
  readonly author: Actor
  /** In the order of the text. */
  readonly users: ReadonlyArray<Person>
  readonly agents: ReadonlyArray<MentionedAgent>
}

/** Those of the persons and agents that a text names who can be mentioned. */
export interface Mentionable {
  /** Active members. */
  readonly users: ReadonlyArray<PersonId>
  /** Not revoked, of active members. */
  readonly agents: ReadonlyArray<{
    readonly id: AgentId
    /** Whether the person that it works for sees the team. */
    readonly seesTeam: boolean
  }>
}

/** A part of the comments on a ticket. */
export interface CommentsPart {
  /** Only those before this place. */
  readonly before?: Pick<CommentRow, "createdAt" | "id"> | undefined
  /** At most so many. */
  readonly limit: number
  /** And no further ones once their bodies have so many bytes. */
  readonly bytes: number
}

/** How many of a ticket's comments, from the newest on, are looked through for who takes part. */
export const writersOfNewest = 200

/** Stores comments and whom they mention. */
export class CommentsRepo extends Context.Service<
  CommentsRepo,
  {
    /** Oldest first; undefined where the viewer sees no such ticket. */
    readonly list: (viewer: Viewer, ticketRef: string) => Effect.Effect<ReadonlyArray<CommentDetails> | undefined>
    /** The newest of a part, oldest first, and how many comments are older than these. */
    readonly newest: (
      ticketId: TicketId,
      part: CommentsPart
    ) => Effect.Effect<{ readonly comments: ReadonlyArray<CommentDetails>; readonly older: number }>
    readonly find: (ticketId: TicketId, id: CommentId) => Effect.Effect<CommentDetails | undefined>
    /** Locks the comment until the transaction ends; false where there is none. */
    readonly lock: (ticketId: TicketId, id: CommentId) => Effect.Effect<boolean>
    readonly mentionable: (
      team: { readonly id: TeamId; readonly workspaceId: WorkspaceId; readonly visibility: TeamVisibility },
      mentions: Mentions
    ) => Effect.Effect<Mentionable>
    /** Everybody whom the comment mentions or ever did. */
    /** The persons who wrote the newest of the ticket's comments. */
    readonly writers: (ticketId: TicketId) => Effect.Effect<ReadonlyArray<PersonId>>
    readonly everMentioned: (id: CommentId) => Effect.Effect<ReadonlyArray<PersonId | AgentId>>
    readonly insert: (comment: CommentRow, mentions: Mentions, event: StoredEvent) => Effect.Effect<void>
    /** Stores the body, when it was edited, and whom it mentions now. */
    readonly update: (comment: CommentRow, mentions: Mentions, event: StoredEvent) => Effect.Effect<void>
    readonly delete: (id: CommentId, event: StoredEvent) => Effect.Effect<void>
  }
>()("@delivery/server/planning/CommentsRepo") {}

/** Actors as those who are mentioned. Persons and agents are never deleted, so none is `removed`. */
export const mentionedOf = (mentions: ReadonlyArray<Actor>): Pick<CommentDetails, "users" | "agents"> => ({
  users: mentions.flatMap((actor) =>
    actor.kind === "user" ? [{ id: actor.id, name: actor.name, email: actor.email }] : []
  ),
  agents: mentions.flatMap((actor) =>
    actor.kind === "agent" ? [{ id: actor.id, name: actor.name, person: actor.person }] : []
  )
})

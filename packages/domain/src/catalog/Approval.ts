import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Actor } from "../identity/Actor.ts"
import { ApprovalId } from "../Ids.ts"
import { Name, OneOf, Ref } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { EnvironmentRef } from "./Environment.ts"

/** For how many minutes an approval can be asked. */
export const minApprovalMinutes = 5
export const maxApprovalMinutes = 480

/** How long an approval can be given that was asked for: hours. */
export const pendingApprovalHours = 24

/** How many approvals a page has. */
export const approvalsPageSize = 100

/** What a write without an approval is refused with, as examples have it. */
export const approvalRequired =
  "Production: writes there need the approval of a second person. Ask for it with `delivery approvals request production`, or with POST /v1/workspaces/main/approvals."

export const approvalStates = ["pending", "approved", "rejected", "withdrawn", "ended", "expired"] as const

export const ApprovalState = OneOf(approvalStates).annotate({
  identifier: "ApprovalState",
  description:
    "`pending`: nobody has decided yet. `approved`: who asked may write now. `rejected`: an admin said no. `withdrawn`: who asked needs it no more. `expired`: its time is over, decided or not. `ended`: somebody ended it, or it counts no more since the membership, the role or the credential of who asked or who approved is gone.",
  examples: ["pending"]
})
export type ApprovalState = typeof ApprovalState.Type

/** An approval that was asked for (docs/contract.md, Approvals). */
export const Approval = Schema.Struct({
  id: ApprovalId,
  environment: EnvironmentRef,
  state: ApprovalState,
  reason: Schema.String.annotate({ description: "What it is for, in the words of who asked." }),
  minutes: Schema.Int.annotate({ description: "For how many minutes who asked may write, from the approval on." }),
  requestedBy: Actor,
  requestedAt: Timestamp,
  decidedBy: Schema.NullOr(Actor).annotate({ description: "Who approved or rejected it; null if nobody did." }),
  decidedAt: Schema.NullOr(Timestamp),
  decisionReason: Schema.NullOr(Schema.String).annotate({
    description: "Why it was rejected; null if it was not, or nobody said."
  }),
  expiresAt: Timestamp.annotate({
    description: "Until when it can be approved; of an approved one, until when who asked may write."
  }),
  endedBy: Schema.NullOr(Actor).annotate({
    description: "Who withdrew or ended it before its time; null if nobody did."
  }),
  endedAt: Schema.NullOr(Timestamp)
}).annotate({
  identifier: "Approval",
  description: "That a second person lets somebody write in an environment for some minutes.",
  examples: [
    {
      id: ApprovalId.make("0197a1b2-0000-7000-8000-0000000000f1"),
      environment: {
        id: EnvironmentRef.fields.id.make("0197a1b2-0000-7000-8000-0000000000e2"),
        slug: "production",
        name: "Production",
        class: "production",
        emoji: null,
        archived: false
      },
      state: "pending",
      reason: "Rotate the key of the payment provider",
      minutes: 30,
      requestedBy: {
        kind: "user",
        id: Actor.members[0].fields.id.make("0197a1b2-0000-7000-8000-000000000001"),
        name: "Ana Diaz",
        email: "ana@example.com"
      },
      requestedAt: "2026-11-21T09:30:00.000Z",
      decidedBy: null,
      decidedAt: null,
      decisionReason: null,
      expiresAt: "2026-11-22T09:30:00.000Z",
      endedBy: null,
      endedAt: null
    }
  ]
})
export type Approval = typeof Approval.Type

const minutesMessage = `Expected a whole number from ${minApprovalMinutes} to ${maxApprovalMinutes}`

export const RequestApproval = Body({
  environment: Ref.annotate({ description: "The slug or id of the environment.", examples: ["production"] }),
  reason: Name(500).annotate({ description: "What it is for: whoever approves reads it." }),
  minutes: Schema.Int.annotate({ message: minutesMessage })
    .check(Schema.isBetween({ minimum: minApprovalMinutes, maximum: maxApprovalMinutes }, { message: minutesMessage }))
    .annotate({ description: "For how many minutes you may write, from the approval on." })
}).annotate({
  identifier: "RequestApproval",
  description: "Where somebody wants to write, why, and for how long.",
  examples: [{ environment: "production", reason: "Rotate the key of the payment provider", minutes: 30 }]
})
export type RequestApproval = typeof RequestApproval.Type

export const RejectApproval = Body({
  reason: Schema.optionalKey(Schema.NullOr(Name(500))).annotate({ description: "Why it is rejected." })
}).annotate({
  identifier: "RejectApproval",
  description: "Why an approval is rejected.",
  examples: [{ reason: "Not before the release is out" }]
})
export type RejectApproval = typeof RejectApproval.Type

export const ApprovalsPage = Schema.Struct({
  approvals: Schema.Array(Approval),
  nextCursor: Schema.NullOr(ApprovalId).annotate({
    description: "Send it as `cursor` to get the next page. Null on the last page."
  })
}).annotate({ identifier: "ApprovalsPage", description: "A page of approvals, newest first." })
export type ApprovalsPage = typeof ApprovalsPage.Type

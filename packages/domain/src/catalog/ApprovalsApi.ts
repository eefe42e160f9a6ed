import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { isId, OneOf, Ref, undocumented } from "../Text.ts"
import {
  Approval,
  ApprovalsPage,
  approvalsPageSize,
  approvalStates,
  maxApprovalMinutes,
  minApprovalMinutes,
  pendingApprovalHours,
  RejectApproval,
  RequestApproval
} from "./Approval.ts"

const path = `${workspacePath}/approvals` as const
const one = {
  slug: WorkspaceRef,
  approval: PathRef.annotate({
    description: "The approval's id.",
    examples: ["0197a1b2-0000-7000-8000-0000000000f1"]
  })
}

const Cursor = Schema.String.check(
  Schema.makeFilter<string>((text) => isId(text) || "Expected the nextCursor of a page", {
    toJsonSchema: undocumented
  })
).annotate({
  description: "The `nextCursor` of the previous page. The page has approvals that are older.",
  examples: ["0197a1b2-0000-7000-8000-0000000000f1"]
})

const closed = { approval_closed: "The approval is pending no more: it was rejected." }
const deciders =
  "A person does, with a session or a key of their own, who has the role `admin` or `owner`; no account API key may (403 `account_key`), and nobody for themselves: who asked, who made the key that asked, or the first key of its chain, is 403 `own_approval`."

/** Approvals of writes by a second person (docs/contract.md, Approvals). */
export class ApprovalsApi extends HttpApiGroup.make("approvals")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        environment: Schema.optionalKey(
          Ref.annotate({ description: "Only of this environment, by slug or id.", examples: ["production"] })
        ),
        state: Schema.optionalKey(
          OneOf(approvalStates).annotate({ description: "Only those in this state.", examples: ["pending"] })
        ),
        cursor: Schema.optionalKey(Cursor)
      },
      success: ApprovalsPage,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List approvals",
        `Lists the approvals that were asked for, newest first, ${approvalsPageSize} a page. Filters combine; send the same filters for every page. Returns 404 if the environment does not exist. Any role may call this.`
      )
    ),
    HttpApiEndpoint.post("request", path, {
      params: { slug: WorkspaceRef },
      payload: RequestApproval,
      success: Approval.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "vault",
        "Ask for an approval",
        `Asks for a second person's approval to write in an environment whose \`approvals\` is on: secret values, the class, turning approvals off, archiving it. It can be approved for ${pendingApprovalHours} hours; from then on whoever asked, and nobody else, may write there for ${minApprovalMinutes} to ${maxApprovalMinutes} minutes. People and account API keys ask alike. An approval counts for the person, whatever session or key they write with. Returns 409 \`approvals_off\` where none is needed, 409 \`already_requested\` while you have a pending one there, and 409 \`archived\` if the environment is archived. Requires the role \`member\` or higher.`,
        {
          conflicts: {
            approvals_off: "Writes in Production need no approval.",
            already_requested: "You have asked for an approval there already. It is pending.",
            archived: "The environment is archived."
          }
        }
      )
    ),
    HttpApiEndpoint.get("get", `${path}/:approval`, { params: one, success: Approval, error: NotFound }).annotateMerge(
      doc("read", "Get an approval", "Returns the approval, whatever became of it. Any role may call this.")
    ),
    HttpApiEndpoint.post("approve", `${path}/:approval/approve`, {
      params: one,
      success: Approval,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Approve a write",
        `Lets who asked write for the minutes that they asked for, from now on. ${deciders} Returns 409 \`approval_closed\` where it is pending no more.`,
        { conflicts: closed }
      )
    ),
    HttpApiEndpoint.post("reject", `${path}/:approval/reject`, {
      params: one,
      payload: [RejectApproval, Schema.Null],
      success: Approval,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Reject an approval",
        `Says no, for good, with a reason if you give one. The body may be left out. ${deciders} Returns 409 \`approval_closed\` where it is pending no more.`,
        { conflicts: closed, isBodyOptional: true }
      )
    ),
    HttpApiEndpoint.post("end", `${path}/:approval/end`, {
      params: one,
      success: Approval,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "vault",
        "End an approval",
        "Ends an approval before its time: a write after that is refused. A pending one is withdrawn where who asked for it ends it. Who asked may call this, the person who made the key that asked, who approved it, and every admin and owner, keys included. Returns 409 `approval_closed` where it is neither pending nor approved any more.",
        { conflicts: { approval_closed: "The approval counts no more: it has expired." } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Approvals",
      description:
        "In an environment whose `approvals` is on, secret values, the class and whether approvals are needed change only with the approval of a second person, for some minutes. Reading, deployments, releases and test runs need none."
    })
  ) {}

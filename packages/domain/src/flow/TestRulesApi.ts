import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, InvalidInput, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { TicketList } from "../planning/Ticket.ts"
import {
  CreateTestRule,
  maxTestRules,
  maxTicketsOfRule,
  maxTicketsOfRun,
  TestRule,
  UpdateTestRule
} from "./TestRule.ts"

const path = `${workspacePath}/test-rules` as const
const one = `${path}/:testRule` as const
const params = {
  slug: WorkspaceRef,
  testRule: PathRef.annotate({
    description: "The id of the rule.",
    examples: ["0197a1b2-0000-7000-8000-000000000d01"]
  })
}

const conflicts = {
  archived: "The product, the team or the project is archived.",
  project_not_in_team: "The project is not linked to the team.",
  inactive_owner: "The owner is not an active member, or is an agent that was revoked.",
  owner_cannot_see: "The owner cannot see the team, which is private.",
  too_many_rules: `The product has ${maxTestRules} rules.`
}
const persons =
  "Requires the role `member` or higher, and a person: a rule acts as its author, so account API keys and agents have none (403 `account_key`)."

/** Rules that make tickets of failing tests (docs/contract.md, Test rules). */
export class TestRulesApi extends HttpApiGroup.make("testRules")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ testRules: Schema.Array(TestRule) }).annotate({
        identifier: "TestRules",
        description: "Rules, oldest first."
      }),
      error: NotFound
    }).annotateMerge(
      doc("read", "List test rules", "Lists the rules of teams that you see, oldest first. Any role may call this.")
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateTestRule,
      success: TestRule.pipe(HttpApiSchema.status(201)),
      error: [InvalidInput, Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Create a test rule",
        `Has tickets made of tests that fail. It acts as you, when a run that it is for finishes, in the transaction of that: a test that fails often enough gets one open ticket, with what failed and where. Failing again is a comment; a completed ticket is reopened, a canceled one stays so. Tests that are muted in the run are left alone. Where \`above\` or more fail at once, those that fail alike share a ticket, and one run makes at most ${maxTicketsOfRun} tickets. A ticket is completed once its tests have passed \`closeAfter\` runs. An agent who owns a ticket gets one message when it is opened.

Returns 404, naming the field, for what does not exist, and 400 for an \`ask\` without an agent. ${persons}`,
        { conflicts }
      )
    ),
    HttpApiEndpoint.patch("update", one, {
      params,
      payload: UpdateTestRule,
      success: TestRule,
      error: [InvalidInput, Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Update a test rule",
        `Changes the fields that are sent; \`null\` clears a field. Whoever changes a rule is its author from then on. Same errors as creating one. ${persons}`,
        { conflicts }
      )
    ),
    HttpApiEndpoint.delete("delete", one, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound]
    }).annotateMerge(doc("write", "Delete a test rule", `Deletes the rule. Its tickets stay as they are. ${persons}`)),
    HttpApiEndpoint.get("tickets", `${one}/tickets`, { params, success: TicketList, error: NotFound }).annotateMerge(
      doc(
        "read",
        "List the tickets of a test rule",
        `Lists the tickets that the rule has made and that you see, newest first, at most ${maxTicketsOfRule}. Any role may call this.`
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Test rules",
      description: "Rules that make tickets of failing tests, and complete them when the tests pass again."
    })
  ) {}

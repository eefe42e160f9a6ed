import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { Unauthorized } from "../Errors.ts"
import type { TestRunId, WorkspaceId } from "../Ids.ts"
import type { Timestamp } from "../Timestamp.ts"

/** The run, or the retry of it, whose token a request carries. */
export class RunCaller extends Context.Service<
  RunCaller,
  {
    readonly workspaceId: WorkspaceId
    readonly runId: TestRunId
    readonly run: number
    /** Null for the run itself. */
    readonly retry: number | null
    /** The end of the token. */
    readonly expiresAt: Timestamp
  }
>()("@delivery/domain/runs/RunCaller") {}

/**
 * Authentication by run token, `Authorization: Bearer stk_...` (docs/contract.md, Semaphores). The token is bound to the
 * workspace of the path and dies with its run. Fails with `Unauthorized`; an API key does, too.
 */
export class RunAuthorization extends HttpApiMiddleware.Service<RunAuthorization, { provides: RunCaller }>()(
  "@delivery/domain/runs/RunAuthorization",
  {
    error: Unauthorized,
    requiredForClient: true,
    security: {
      runToken: HttpApiSecurity.bearer.pipe(
        HttpApiSecurity.annotate(
          OpenApi.Description,
          "The token that starting a run or retry answers, while that runs: `Authorization: Bearer stk_...`."
        )
      )
    }
  }
) {}

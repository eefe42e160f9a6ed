import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { TooManyRequests, Unauthorized } from "../Errors.ts"
import type { TestRunId, WorkspaceId } from "../Ids.ts"
import type { Timestamp } from "../Timestamp.ts"

/** The run or retry whose token the request carries. */
export class RunCaller extends Context.Service<
  RunCaller,
  {
    readonly workspaceId: WorkspaceId
    readonly runId: TestRunId
    readonly run: number
    /** Null if the token is that of the run itself. */
    readonly retry: number | null
    /** When the token expires. */
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
    error: [Unauthorized, TooManyRequests],
    requiredForClient: true,
    security: {
      runToken: HttpApiSecurity.bearer.pipe(
        HttpApiSecurity.annotate(
          OpenApi.Description,
          "The run token, from the response to starting a run or retry: `Authorization: Bearer stk_...`. It works while the run or retry is running, and while the API key that started it works in the workspace."
        )
      )
    }
  }
) {}

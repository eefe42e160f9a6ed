import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import type { EnvironmentRef } from "../catalog/Environment.ts"
import type { ProductRef } from "../catalog/Product.ts"
import { Forbidden, TooManyRequests, Unauthorized } from "../Errors.ts"
import type { DeploymentId, DeploymentTokenId, WorkspaceId } from "../Ids.ts"
import type { Timestamp } from "../Timestamp.ts"

/** The deployment whose token the request carries. */
export class DeployCaller extends Context.Service<
  DeployCaller,
  {
    readonly workspaceId: WorkspaceId
    readonly product: ProductRef
    readonly environment: EnvironmentRef
    readonly deployment: {
      readonly id: DeploymentId
      readonly version: string | null
      readonly baseUrl: string | null
    }
    readonly token: {
      readonly id: DeploymentTokenId
      readonly name: string
      readonly lastFour: string
      readonly expiresAt: Timestamp | null
    }
    /** The network address of the client. */
    readonly address: string
  }
>()("@delivery/domain/deploy/DeployCaller") {}

/**
 * Authentication by deployment token, `Authorization: Bearer dtk_...` (docs/contract.md, Deployment tokens), looked up on
 * every request. Fails with `Unauthorized`, also for an API key, and with `Forbidden` where the token may not be used from
 * the address of the client.
 */
export class DeployAuthorization extends HttpApiMiddleware.Service<DeployAuthorization, { provides: DeployCaller }>()(
  "@delivery/domain/deploy/DeployAuthorization",
  {
    error: [Unauthorized, Forbidden, TooManyRequests],
    requiredForClient: true,
    security: {
      deploymentToken: HttpApiSecurity.bearer.pipe(
        HttpApiSecurity.annotate(
          OpenApi.Description,
          "The token of a deployment: `Authorization: Bearer dtk_...`. It reads the secrets of one product in one environment, and may say its version."
        )
      )
    }
  }
) {}

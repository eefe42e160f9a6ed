import { Layer } from "effect"
import { deploymentTokens } from "../access/ActorRows.ts"
import * as DeployAuthorizationHttp from "./DeployAuthorizationHttp.ts"
import * as DeployHttp from "./DeployHttp.ts"
import { DeploymentTokens } from "./DeploymentTokens.ts"
import * as DeploymentTokensMemory from "./DeploymentTokensMemory.ts"
import { tokenNetworks } from "./DeploymentTokensRepo.ts"
import * as DeploymentTokensSql from "./DeploymentTokensSql.ts"
import { Loads } from "./Loads.ts"
import * as LoadsMemory from "./LoadsMemory.ts"
import { deploymentLoads, tokenReads } from "./LoadsRepo.ts"
import * as LoadsSql from "./LoadsSql.ts"
import { ReadAudit } from "./ReadAudit.ts"
import * as TokenExpiry from "./TokenExpiry.ts"
import * as TokensOfOthers from "./TokensOfOthers.ts"
import { TokenUsage } from "./TokenUsage.ts"

/** Deployed products: the tokens with which they read their own secrets, and what they read. */

export const tables = [deploymentTokens, tokenNetworks, tokenReads, deploymentLoads]

export const layerSql = Layer.merge(DeploymentTokensSql.layer, LoadsSql.layer)

export const layerMemory = Layer.merge(DeploymentTokensMemory.layer, LoadsMemory.layer)

/** Identity's `MadeTokens`: tokens are told of, and blocked, with the key that they were made with. */
export const layerMadeTokens = Layer.provide(TokensOfOthers.layerMadeTokens, TokenUsage.layer)

/** The catalog's `DeploymentEnds`: tokens end with their deployment. */
export const layerDeploymentEnds = TokensOfOthers.layerDeploymentEnds

/** All that this room supplies to lower ones. */
export const layerPorts = Layer.merge(layerMadeTokens, layerDeploymentEnds)

/** What requests call. */
export const layerServices = Layer.merge(DeploymentTokens.layer, Loads.layer).pipe(
  Layer.provideMerge([TokenUsage.layer, ReadAudit.layer])
)

/** What a server does by itself. */
export const layerBackground = TokenExpiry.layer

/** The handlers, and the authentication of requests with a deployment token. */
export const layerHttp = Layer.provide(DeployHttp.layer, DeployAuthorizationHttp.layer)

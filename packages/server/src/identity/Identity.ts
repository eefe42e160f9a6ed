import { Layer } from "effect"
import { ApiKeys } from "./ApiKeys.ts"
import { ApiKeysRepo } from "./ApiKeysRepo.ts"
import { ApiKeyUsage } from "./ApiKeyUsage.ts"
import { AuthorizationLive } from "./AuthorizationHttp.ts"
import { Bootstrap } from "./Bootstrap.ts"
import { IdentityHttp } from "./IdentityHttp.ts"
import { Invites } from "./Invites.ts"
import { InvitesRepo } from "./InvitesRepo.ts"
import { Members } from "./Members.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { PersonsRepo } from "./PersonsRepo.ts"
import { Workspaces } from "./Workspaces.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

/** Persons, workspaces, members, invites and API keys. */

export const layerSql = Layer.mergeAll(
  PersonsRepo.layerSql,
  WorkspacesRepo.layerSql,
  MembersRepo.layerSql,
  InvitesRepo.layerSql,
  ApiKeysRepo.layerSql
)

export const layerMemory = Layer.mergeAll(
  PersonsRepo.layerMemory,
  WorkspacesRepo.layerMemory,
  MembersRepo.layerMemory,
  InvitesRepo.layerMemory,
  ApiKeysRepo.layerMemory
)

/** Needs `MemberChanges`, which the agents supply, and `NewWorkspaces`, which planning supplies. */
export const layer = Layer.mergeAll(Workspaces.layer, Members.layer, Invites.layer).pipe(
  Layer.provideMerge(ApiKeys.layer),
  Layer.provideMerge(ApiKeyUsage.layer)
)

/** Makes the first workspace and its owner, where the database is empty. */
export const layerBootstrap = Bootstrap.layer

/** Authenticates the requests of every room. */
export const layerAuthorization = AuthorizationLive

export const layerHttp = IdentityHttp

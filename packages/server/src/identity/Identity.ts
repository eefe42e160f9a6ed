import { Layer } from "effect"
import { apiKeys, persons } from "../access/ActorRows.ts"
import * as AdminRefusals from "./AdminRefusals.ts"
import { ApiKeys } from "./ApiKeys.ts"
import * as ApiKeysMemory from "./ApiKeysMemory.ts"
import * as ApiKeysSql from "./ApiKeysSql.ts"
import { ApiKeyUsage } from "./ApiKeyUsage.ts"
import * as AuthorizationHttp from "./AuthorizationHttp.ts"
import * as BlocksMemory from "./BlocksMemory.ts"
import { credentialBlocks } from "./BlocksRepo.ts"
import * as BlocksSql from "./BlocksSql.ts"
import { Bootstrap } from "./Bootstrap.ts"
import * as IdentityHttp from "./IdentityHttp.ts"
import { Inventory } from "./Inventory.ts"
import { Invites } from "./Invites.ts"
import * as InvitesMemory from "./InvitesMemory.ts"
import { invites } from "./InvitesRepo.ts"
import * as InvitesSql from "./InvitesSql.ts"
import * as KeyExpiry from "./KeyExpiry.ts"
import { Makers } from "./Makers.ts"
import { Members } from "./Members.ts"
import * as MembersMemory from "./MembersMemory.ts"
import { members } from "./MembersRepo.ts"
import * as MembersSql from "./MembersSql.ts"
import { Persons } from "./Persons.ts"
import * as PersonsMemory from "./PersonsMemory.ts"
import * as PersonsSql from "./PersonsSql.ts"
import * as SessionsMemory from "./SessionsMemory.ts"
import { sessions } from "./SessionsRepo.ts"
import * as SessionsSql from "./SessionsSql.ts"
import { SessionUsage } from "./SessionUsage.ts"
import { TrustedPublishers } from "./TrustedPublishers.ts"
import * as TrustedPublishersMemory from "./TrustedPublishersMemory.ts"
import { trustedPublishers } from "./TrustedPublishersRepo.ts"
import * as TrustedPublishersSql from "./TrustedPublishersSql.ts"
import { Workspaces } from "./Workspaces.ts"
import * as WorkspacesMemory from "./WorkspacesMemory.ts"
import { workspaces } from "./WorkspacesRepo.ts"
import * as WorkspacesSql from "./WorkspacesSql.ts"

/** Persons, workspaces, members, invites, API keys and sessions. */

export const tables = [persons, workspaces, members, invites, apiKeys, sessions, credentialBlocks, trustedPublishers]

export const layerSql = Layer.mergeAll(
  PersonsSql.layer,
  WorkspacesSql.layer,
  MembersSql.layer,
  InvitesSql.layer,
  ApiKeysSql.layer,
  SessionsSql.layer,
  BlocksSql.layer,
  TrustedPublishersSql.layer
)

export const layerMemory = Layer.mergeAll(
  PersonsMemory.layer,
  WorkspacesMemory.layer,
  MembersMemory.layer,
  InvitesMemory.layer,
  ApiKeysMemory.layer,
  SessionsMemory.layer,
  BlocksMemory.layer,
  TrustedPublishersMemory.layer
)

/**
 * Needs `MemberChanges` and `MadeSignIns`, which the agents supply, `MadeTokens`, which deploy supplies, `MemberRuns`, which
 * the runs supply, `NewWorkspaces`, which planning supplies, `MadeWebhooks`, which the webhooks supply, and `Mail`.
 */
export const layer = Layer.mergeAll(
  Workspaces.layer,
  Members.layer,
  Invites.layer,
  Persons.layer,
  Inventory.layer,
  TrustedPublishers.layer,
  AdminRefusals.layer
).pipe(
  Layer.provideMerge(ApiKeys.layer),
  Layer.provideMerge(Makers.layer),
  Layer.provideMerge([ApiKeyUsage.layer, SessionUsage.layer])
)

/** What a server does by itself, over the services. */
export const layerBackground = KeyExpiry.layer

/** For commands of the host: persons and their keys. Needs `MadeSignIns`, `MadeTokens` and `MadeWebhooks`, which higher rooms supply. */
export const layerHost = Layer.merge(ApiKeys.layer, Persons.layer).pipe(
  Layer.provide(Makers.layer),
  Layer.provide([ApiKeyUsage.layer, SessionUsage.layer])
)

/** Makes the first workspace and its owner, where the database is empty. */
export const layerBootstrap = Bootstrap.layer

/** Authenticates the requests of every room. Supplies the events' `CurrentCaller`, too. */
export const layerAuthorization = Layer.mergeAll(
  AuthorizationHttp.layer,
  AuthorizationHttp.layerOptional,
  AuthorizationHttp.layerCurrentCaller
)

export const layerHttp = IdentityHttp.layer

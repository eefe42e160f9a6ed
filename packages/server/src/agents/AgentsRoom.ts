import { Layer } from "effect"
import { agents } from "../access/ActorRows.ts"
import * as AgentAuthorizationHttp from "./AgentAuthorizationHttp.ts"
import * as AgentMcp from "./AgentMcp.ts"
import { Agents } from "./Agents.ts"
import { AgentSessions } from "./AgentSessions.ts"
import * as AgentsHttp from "./AgentsHttp.ts"
import * as AgentsMemory from "./AgentsMemory.ts"
import { computers, sessions } from "./AgentsRepo.ts"
import * as AgentsSql from "./AgentsSql.ts"
import { AgentUsage } from "./AgentUsage.ts"
import { AuthorizationCodes } from "./AuthorizationCodes.ts"
import { Authorizations } from "./Authorizations.ts"
import * as AuthorizationsMemory from "./AuthorizationsMemory.ts"
import { authorizationCodes, authorizations } from "./AuthorizationsRepo.ts"
import * as AuthorizationsSql from "./AuthorizationsSql.ts"
import * as AuthorizePage from "./AuthorizePage.ts"
import { ClientDocuments } from "./ClientDocuments.ts"
import * as BlockErasure from "./BlockErasure.ts"
import * as ChangedMembers from "./ChangedMembers.ts"
import { Inbox } from "./Inbox.ts"
import { InboxWaits } from "./InboxWaits.ts"
import * as MadeAgents from "./MadeAgents.ts"
import { Messages } from "./Messages.ts"
import * as MessagesMemory from "./MessagesMemory.ts"
import { messages, notifications } from "./MessagesRepo.ts"
import * as MessagesSql from "./MessagesSql.ts"
import { OAuthClients } from "./OAuthClients.ts"
import * as OAuthClientsMemory from "./OAuthClientsMemory.ts"
import { oauthClients } from "./OAuthClientsRepo.ts"
import * as OAuthClientsSql from "./OAuthClientsSql.ts"
import { SignIns } from "./SignIns.ts"
import * as SignInsMemory from "./SignInsMemory.ts"
import { accessTokens, refreshTokens, replacedTokens, signIns } from "./SignInsRepo.ts"
import * as SignInsSql from "./SignInsSql.ts"

/** Coding agents: their computers, sign-ins and messages, and the endpoints that they call. */

export const tables = [
  agents,
  computers,
  sessions,
  signIns,
  accessTokens,
  refreshTokens,
  replacedTokens,
  messages,
  notifications,
  oauthClients,
  authorizations,
  authorizationCodes
]

export const layerSql = Layer.mergeAll(
  AgentsSql.layer,
  SignInsSql.layer,
  OAuthClientsSql.layer,
  AuthorizationsSql.layer,
  MessagesSql.layer
)

export const layerMemory = Layer.mergeAll(
  AgentsMemory.layer,
  SignInsMemory.layer,
  OAuthClientsMemory.layer,
  AuthorizationsMemory.layer,
  MessagesMemory.layer
)

/** Planning's `AgentMentions`: a mention becomes a message to the agent. */
const layerMentions = Messages.layer

/** Identity's `MemberChanges`: applies changes of a member to their agents. */
const layerMemberChanges = Layer.provide(ChangedMembers.layer, Messages.layer)

/** Identity's `MadeSignIns`: sign-ins end, and are blocked, with the key that they were made with. */
export const layerMadeSignIns = MadeAgents.layer

/** All that this room supplies to lower ones. */
export const layerPorts = Layer.mergeAll(layerMentions, layerMemberChanges, layerMadeSignIns)

export const layer = Layer.mergeAll(
  Agents.layer,
  AgentSessions.layer,
  Authorizations.layer,
  AuthorizationCodes.layer
).pipe(
  Layer.provideMerge([SignIns.layer, Inbox.layer, Layer.provide(OAuthClients.layer, ClientDocuments.layer)]),
  Layer.provideMerge([AgentUsage.layer, Messages.layer, InboxWaits.layer])
)

/** What a server does by itself. */
export const layerBackground = BlockErasure.layer

/** The handlers, and the authentication of requests with an agent's access token. */
export const layerHttp = Layer.provide(AgentsHttp.layer, AgentAuthorizationHttp.layer)

/** `/agent/mcp`, with what higher rooms register. */
export const layerMcp = AgentMcp.layer

/** The page `/authorize`, where people decide about clients. */
export const layerPage = AuthorizePage.layer

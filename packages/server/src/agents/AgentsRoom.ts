import { Layer } from "effect"
import { AgentAuthorizationLive } from "./AgentAuthorizationHttp.ts"
import { AgentMcp } from "./AgentMcp.ts"
import { Agents } from "./Agents.ts"
import { AgentSessions } from "./AgentSessions.ts"
import { AgentsHttp } from "./AgentsHttp.ts"
import { AgentsRepo } from "./AgentsRepo.ts"
import { AgentUsage } from "./AgentUsage.ts"
import { ChangedMembers } from "./ChangedMembers.ts"
import { Inbox } from "./Inbox.ts"
import { InboxWaits } from "./InboxWaits.ts"
import { Messages } from "./Messages.ts"
import { MessagesRepo } from "./MessagesRepo.ts"
import { SignIns } from "./SignIns.ts"
import { SignInsRepo } from "./SignInsRepo.ts"

/** Coding agents: their computers, sign-ins and messages, and what they call. */

export const layerSql = Layer.mergeAll(AgentsRepo.layerSql, SignInsRepo.layerSql, MessagesRepo.layerSql)

export const layerMemory = Layer.mergeAll(AgentsRepo.layerMemory, SignInsRepo.layerMemory, MessagesRepo.layerMemory)

/** Planning's `AgentMentions`: a mention becomes a message to the agent. */
export const layerMentions = Messages.layer

/** Identity's `MemberChanges`: what becomes of the agents of a member who changes. */
export const layerMemberChanges = Layer.provide(ChangedMembers, Messages.layer)

export const layer = Layer.mergeAll(Agents.layer, AgentSessions.layer).pipe(
  Layer.provideMerge([SignIns.layer, Inbox.layer]),
  Layer.provideMerge([AgentUsage.layer, Messages.layer, InboxWaits.layer])
)

/** The handlers, and the authentication of requests with an agent's access token. */
export const layerHttp = Layer.provide(AgentsHttp, AgentAuthorizationLive)

/** `/agent/mcp`. */
export const layerMcp = AgentMcp

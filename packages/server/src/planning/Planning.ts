import { Layer } from "effect"
import { Comments } from "./Comments.ts"
import * as CommentsMemory from "./CommentsMemory.ts"
import { commentMentions, comments } from "./CommentsRepo.ts"
import * as CommentsSql from "./CommentsSql.ts"
import { Milestones } from "./Milestones.ts"
import * as MilestonesMemory from "./MilestonesMemory.ts"
import { milestones } from "./MilestonesRepo.ts"
import * as MilestonesSql from "./MilestonesSql.ts"
import { PlanningHttp } from "./PlanningHttp.ts"
import { Projects } from "./Projects.ts"
import { projectProducts, projects, ProjectsRepo, projectTeams } from "./ProjectsRepo.ts"
import { StatusFilters } from "./StatusFilters.ts"
import { Tags } from "./Tags.ts"
import * as TagsMemory from "./TagsMemory.ts"
import { tags } from "./TagsRepo.ts"
import * as TagsSql from "./TagsSql.ts"
import * as TeamAudience from "./TeamAudience.ts"
import { Teams } from "./Teams.ts"
import * as TeamsMemory from "./TeamsMemory.ts"
import { teamMembers, teams } from "./TeamsRepo.ts"
import * as TeamsSql from "./TeamsSql.ts"
import { Tickets } from "./Tickets.ts"
import { TicketsHttp } from "./TicketsHttp.ts"
import * as TicketsMemory from "./TicketsMemory.ts"
import { ticketIdentifiers, tickets, ticketTags } from "./TicketsRepo.ts"
import * as TicketsSql from "./TicketsSql.ts"
import { TicketStatuses, TicketStatusTemplates } from "./TicketStatuses.ts"
import { ticketStatuses, TicketStatusesRepo } from "./TicketStatusesRepo.ts"
import { Views } from "./Views.ts"
import { views, ViewsRepo } from "./ViewsRepo.ts"

/** Teams, ticket statuses, projects, tickets, comments, tags and views. */

export const tables = [
  teams,
  teamMembers,
  ticketStatuses,
  projects,
  projectTeams,
  projectProducts,
  milestones,
  views,
  tickets,
  ticketIdentifiers,
  ticketTags,
  comments,
  commentMentions,
  tags
]

/** Supplies the events' `EventAudience`, too. */
export const layerSql = Layer.mergeAll(
  TeamAudience.layerSql,
  TeamsSql.layer,
  TicketsSql.layer,
  CommentsSql.layer,
  TicketStatusesRepo.layerSql,
  ProjectsRepo.layerSql,
  MilestonesSql.layer,
  ViewsRepo.layerSql,
  TagsSql.layer
)

export const layerMemory = Layer.mergeAll(
  TeamAudience.layerMemory,
  TeamsMemory.layer,
  TicketsMemory.layer,
  CommentsMemory.layer,
  TicketStatusesRepo.layerMemory,
  ProjectsRepo.layerMemory,
  MilestonesMemory.layer,
  ViewsRepo.layerMemory,
  TagsMemory.layer
)

/** Identity's `NewWorkspaces`: makes the ticket statuses that every workspace begins with. */
export const layerNewWorkspaces = TicketStatusTemplates

/** Needs `AgentMentions`, which the agents supply. */
export const layer = Layer.mergeAll(
  Teams.layer,
  Comments.layer,
  TicketStatuses.layer,
  Projects.layer,
  Milestones.layer,
  Views.layer,
  Tags.layer
).pipe(Layer.provideMerge([Tickets.layer, StatusFilters.layer]))

export const layerHttp = Layer.mergeAll(PlanningHttp, TicketsHttp)

import { Layer } from "effect"
import * as Files from "../files/Files.ts"
import { Attachments } from "./Attachments.ts"
import * as AttachmentsMemory from "./AttachmentsMemory.ts"
import { ticketAttachments } from "./AttachmentsRepo.ts"
import * as AttachmentsSql from "./AttachmentsSql.ts"
import { Comments } from "./Comments.ts"
import * as CommentsMemory from "./CommentsMemory.ts"
import { commentMentions, comments, commentWords, unwordedComments } from "./CommentsRepo.ts"
import * as CommentsSql from "./CommentsSql.ts"
import { Milestones } from "./Milestones.ts"
import * as MilestonesMemory from "./MilestonesMemory.ts"
import { milestones } from "./MilestonesRepo.ts"
import * as MilestonesSql from "./MilestonesSql.ts"
import * as PlanningHttp from "./PlanningHttp.ts"
import { Projects } from "./Projects.ts"
import * as ProjectsMemory from "./ProjectsMemory.ts"
import { projectProducts, projects, projectTeams } from "./ProjectsRepo.ts"
import * as ProjectsSql from "./ProjectsSql.ts"
import * as ProjectTextsMemory from "./ProjectTextsMemory.ts"
import { projectTexts } from "./ProjectTextsRepo.ts"
import * as ProjectTextsSql from "./ProjectTextsSql.ts"
import { StatusFilters } from "./StatusFilters.ts"
import { Tags } from "./Tags.ts"
import * as TagsMemory from "./TagsMemory.ts"
import { tags } from "./TagsRepo.ts"
import * as TagsSql from "./TagsSql.ts"
import * as TeamAudienceMemory from "./TeamAudienceMemory.ts"
import * as TeamAudienceSql from "./TeamAudienceSql.ts"
import { Teams } from "./Teams.ts"
import * as TeamsMemory from "./TeamsMemory.ts"
import { teamMembers, teams } from "./TeamsRepo.ts"
import * as TeamsSql from "./TeamsSql.ts"
import { Tickets } from "./Tickets.ts"
import * as TicketsHttp from "./TicketsHttp.ts"
import { TicketNotifications } from "./TicketNotifications.ts"
import * as TicketNotificationsMemory from "./TicketNotificationsMemory.ts"
import { ticketNotifications } from "./TicketNotificationsRepo.ts"
import * as TicketNotificationsSql from "./TicketNotificationsSql.ts"
import * as TicketWording from "./TicketWording.ts"
import * as TicketTextsMemory from "./TicketTextsMemory.ts"
import { ticketTexts } from "./TicketTextsRepo.ts"
import * as TicketTextsSql from "./TicketTextsSql.ts"
import * as TicketsMemory from "./TicketsMemory.ts"
import { ticketIdentifiers, tickets, ticketTags, ticketWords, unwordedTickets } from "./TicketsRepo.ts"
import * as TicketsSql from "./TicketsSql.ts"
import * as StatusTemplate from "./StatusTemplate.ts"
import { TicketStatuses } from "./TicketStatuses.ts"
import * as TicketStatusesMemory from "./TicketStatusesMemory.ts"
import { ticketStatuses } from "./TicketStatusesRepo.ts"
import * as TicketStatusesSql from "./TicketStatusesSql.ts"
import { Views } from "./Views.ts"
import * as ViewsMemory from "./ViewsMemory.ts"
import { views } from "./ViewsRepo.ts"
import * as ViewsSql from "./ViewsSql.ts"

/** Teams, ticket statuses, projects, tickets, comments, attachments, tags and views. */

export const tables = [
  teams,
  teamMembers,
  ticketStatuses,
  projects,
  projectTeams,
  projectProducts,
  projectTexts,
  milestones,
  views,
  tickets,
  ticketIdentifiers,
  ticketTags,
  ticketWords,
  unwordedTickets,
  ticketTexts,
  comments,
  commentMentions,
  commentWords,
  unwordedComments,
  ticketNotifications,
  ticketAttachments,
  tags
]

/** Supplies the events' `EventAudience`, too. */
export const layerSql = Layer.mergeAll(
  TeamAudienceSql.layer,
  TeamsSql.layer,
  TicketsSql.layer,
  TicketTextsSql.layer,
  CommentsSql.layer,
  TicketNotificationsSql.layer,
  AttachmentsSql.layer,
  TicketStatusesSql.layer,
  ProjectsSql.layer,
  ProjectTextsSql.layer,
  MilestonesSql.layer,
  ViewsSql.layer,
  TagsSql.layer
)

export const layerMemory = Layer.mergeAll(
  TeamAudienceMemory.layer,
  TeamsMemory.layer,
  TicketsMemory.layer,
  TicketTextsMemory.layer,
  CommentsMemory.layer,
  TicketNotificationsMemory.layer,
  AttachmentsMemory.layer,
  TicketStatusesMemory.layer,
  ProjectsMemory.layer,
  ProjectTextsMemory.layer,
  MilestonesMemory.layer,
  ViewsMemory.layer,
  TagsMemory.layer
)

/** Supplies identity's `NewWorkspaces`: the template of ticket statuses. */
export const layerNewWorkspaces = StatusTemplate.layer

/** Needs `AgentMentions`, which the agents supply. */
export const layer = Layer.mergeAll(
  Teams.layer,
  Comments.layer,
  Attachments.layer,
  TicketStatuses.layer,
  Projects.layer,
  Milestones.layer,
  Views.layer,
  Tags.layer,
  TicketWording.layer
).pipe(
  Layer.provideMerge([Tickets.layer, StatusFilters.layer]),
  Layer.provideMerge(TicketNotifications.layer),
  Layer.provide(Files.layerUploads)
)

export const layerHttp = Layer.mergeAll(PlanningHttp.layer, TicketsHttp.layer)

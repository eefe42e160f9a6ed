import { Schema } from "effect"

/** Ids are UUIDv7 strings made by the server (docs/contract.md, Conventions). */
const uuid = Schema.String.annotate({
  format: "uuid",
  description: "A UUIDv7 that the server makes.",
  examples: ["0197a1b2-0000-7000-8000-000000000001"]
})

export const WorkspaceId = uuid.pipe(Schema.brand("WorkspaceId"))
export type WorkspaceId = typeof WorkspaceId.Type

export const PersonId = uuid.pipe(Schema.brand("PersonId"))
export type PersonId = typeof PersonId.Type

export const ApiKeyId = uuid.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

export const SessionId = uuid.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

export const SignInLinkId = uuid.pipe(Schema.brand("SignInLinkId"))
export type SignInLinkId = typeof SignInLinkId.Type

export const LoginId = uuid.pipe(Schema.brand("LoginId"))
export type LoginId = typeof LoginId.Type

export const MailedProofId = uuid.pipe(Schema.brand("MailedProofId"))
export type MailedProofId = typeof MailedProofId.Type

export const PasskeyId = uuid.pipe(Schema.brand("PasskeyId"))
export type PasskeyId = typeof PasskeyId.Type

export const IdentityId = uuid.pipe(Schema.brand("IdentityId"))
export type IdentityId = typeof IdentityId.Type

export const SignInFlowId = uuid.pipe(Schema.brand("SignInFlowId"))
export type SignInFlowId = typeof SignInFlowId.Type

export const InviteId = uuid.pipe(Schema.brand("InviteId"))
export type InviteId = typeof InviteId.Type

export const ProductId = uuid.pipe(Schema.brand("ProductId"))
export type ProductId = typeof ProductId.Type

export const EnvironmentId = uuid.pipe(Schema.brand("EnvironmentId"))
export type EnvironmentId = typeof EnvironmentId.Type

export const ApprovalId = uuid.pipe(Schema.brand("ApprovalId"))
export type ApprovalId = typeof ApprovalId.Type

export const DeploymentId = uuid.pipe(Schema.brand("DeploymentId"))
export type DeploymentId = typeof DeploymentId.Type

export const DeploymentTokenId = uuid.pipe(Schema.brand("DeploymentTokenId"))
export type DeploymentTokenId = typeof DeploymentTokenId.Type

export const TrustedPublisherId = uuid.pipe(Schema.brand("TrustedPublisherId"))
export type TrustedPublisherId = typeof TrustedPublisherId.Type

export const CommitId = uuid.pipe(Schema.brand("CommitId"))
export type CommitId = typeof CommitId.Type

export const SecretId = uuid.pipe(Schema.brand("SecretId"))
export type SecretId = typeof SecretId.Type

export const TestRunId = uuid.pipe(Schema.brand("TestRunId"))
export type TestRunId = typeof TestRunId.Type

export const RetryId = uuid.pipe(Schema.brand("RetryId"))
export type RetryId = typeof RetryId.Type

export const FileId = uuid.pipe(Schema.brand("FileId"))
export type FileId = typeof FileId.Type

export const EventId = uuid.pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type

export const WebhookId = uuid.pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type

export const WebhookDeliveryId = uuid.pipe(Schema.brand("WebhookDeliveryId"))
export type WebhookDeliveryId = typeof WebhookDeliveryId.Type

export const AuditEntryId = uuid.pipe(Schema.brand("AuditEntryId"))
export type AuditEntryId = typeof AuditEntryId.Type

export const LeaseId = uuid.pipe(Schema.brand("LeaseId"))
export type LeaseId = typeof LeaseId.Type

export const AgentId = uuid.pipe(Schema.brand("AgentId"))
export type AgentId = typeof AgentId.Type

export const ComputerId = uuid.pipe(Schema.brand("ComputerId"))
export type ComputerId = typeof ComputerId.Type

export const SignInId = uuid.pipe(Schema.brand("SignInId"))
export type SignInId = typeof SignInId.Type

export const AuthorizationId = uuid.pipe(Schema.brand("AuthorizationId"))
export type AuthorizationId = typeof AuthorizationId.Type

export const TeamId = uuid.pipe(Schema.brand("TeamId"))
export type TeamId = typeof TeamId.Type

export const TicketStatusId = uuid.pipe(Schema.brand("TicketStatusId"))
export type TicketStatusId = typeof TicketStatusId.Type

export const ProjectId = uuid.pipe(Schema.brand("ProjectId"))
export type ProjectId = typeof ProjectId.Type

export const MilestoneId = uuid.pipe(Schema.brand("MilestoneId"))
export type MilestoneId = typeof MilestoneId.Type

export const TicketId = uuid.pipe(Schema.brand("TicketId"))
export type TicketId = typeof TicketId.Type

export const TagId = uuid.pipe(Schema.brand("TagId"))
export type TagId = typeof TagId.Type

export const CommentId = uuid.pipe(Schema.brand("CommentId"))
export type CommentId = typeof CommentId.Type

export const ViewId = uuid.pipe(Schema.brand("ViewId"))
export type ViewId = typeof ViewId.Type

export const MessageId = uuid.pipe(Schema.brand("MessageId"))
export type MessageId = typeof MessageId.Type

export const NotificationId = uuid.pipe(Schema.brand("NotificationId"))
export type NotificationId = typeof NotificationId.Type

export const SavedFilterId = uuid.pipe(Schema.brand("SavedFilterId"))
export type SavedFilterId = typeof SavedFilterId.Type

export const TestRuleId = uuid.pipe(Schema.brand("TestRuleId"))
export type TestRuleId = typeof TestRuleId.Type

/** Where the calls of a page go. Made from the API: `pnpm exec vitest run --config vitest.workspace.ts packages/client/test/web.test.ts -u`. */
export const routes = {
  me: {
    get: "GET /v1/me"
  },
  workspaces: {
    list: "GET /v1/workspaces",
    create: "POST /v1/workspaces",
    get: "GET /v1/workspaces/:slug",
    update: "PATCH /v1/workspaces/:slug"
  },
  members: {
    list: "GET /v1/workspaces/:slug/members",
    update: "PATCH /v1/workspaces/:slug/members/:member",
    deactivate: "POST /v1/workspaces/:slug/members/:member/deactivate",
    reactivate: "POST /v1/workspaces/:slug/members/:member/reactivate"
  },
  invites: {
    list: "GET /v1/workspaces/:slug/invites",
    create: "POST /v1/workspaces/:slug/invites",
    revoke: "POST /v1/workspaces/:slug/invites/:invite/revoke",
    accept: "POST /v1/invites/accept"
  },
  apiKeys: {
    list: "GET /v1/api-keys",
    create: "POST /v1/api-keys",
    revoke: "POST /v1/api-keys/:apiKeyId/revoke"
  },
  accountApiKeys: {
    list: "GET /v1/workspaces/:slug/account-api-keys",
    create: "POST /v1/workspaces/:slug/account-api-keys",
    revoke: "POST /v1/workspaces/:slug/account-api-keys/:apiKeyId/revoke"
  },
  credentials: {
    list: "GET /v1/workspaces/:slug/credentials",
    block: "POST /v1/workspaces/:slug/credentials/:credential/block",
    unblock: "POST /v1/workspaces/:slug/credentials/:credential/unblock"
  },
  trustedPublishers: {
    list: "GET /v1/workspaces/:slug/trusted-publishers",
    create: "POST /v1/workspaces/:slug/trusted-publishers",
    delete: "DELETE /v1/workspaces/:slug/trusted-publishers/:publisher"
  },
  auth: {
    session: "GET /auth/v1/session",
    sessions: "GET /auth/v1/sessions",
    endSession: "DELETE /auth/v1/sessions/:session",
    endOtherSessions: "POST /auth/v1/sessions/revoke-others",
    sudo: "POST /auth/v1/sudo",
    askForProof: "POST /auth/v1/email",
    proveAddress: "POST /auth/v1/email/consume",
    acceptReceivedInvite: "POST /auth/v1/invites/:invite/accept",
    passkeys: "GET /auth/v1/passkeys",
    passkeyOptions: "POST /auth/v1/passkeys/options",
    addPasskey: "POST /auth/v1/passkeys/verify",
    renamePasskey: "PATCH /auth/v1/passkeys/:passkey",
    removePasskey: "DELETE /auth/v1/passkeys/:passkey",
    sudoOptions: "POST /auth/v1/sudo/options",
    identities: "GET /auth/v1/identities",
    deleteIdentity: "DELETE /auth/v1/identities/:identity",
    methods: "GET /auth/v1/methods",
    consumeLink: "POST /auth/v1/links/consume",
    acceptInvite: "POST /auth/v1/invites/accept",
    previewInvite: "POST /auth/v1/invites/preview",
    signOut: "DELETE /auth/v1/session",
    askForLink: "POST /auth/v1/links",
    passkeySignInOptions: "POST /auth/v1/passkeys/sign-in/options",
    signInWithPasskey: "POST /auth/v1/passkeys/sign-in/verify"
  },
  tokens: {
    report: "POST /v1/tokens/report",
    exchange: "POST /v1/token-exchange"
  },
  products: {
    list: "GET /v1/workspaces/:slug/products",
    create: "POST /v1/workspaces/:slug/products",
    get: "GET /v1/workspaces/:slug/products/:product",
    update: "PATCH /v1/workspaces/:slug/products/:product",
    archive: "POST /v1/workspaces/:slug/products/:product/archive",
    restore: "POST /v1/workspaces/:slug/products/:product/restore"
  },
  environments: {
    list: "GET /v1/workspaces/:slug/environments",
    create: "POST /v1/workspaces/:slug/environments",
    get: "GET /v1/workspaces/:slug/environments/:environment",
    update: "PATCH /v1/workspaces/:slug/environments/:environment",
    archive: "POST /v1/workspaces/:slug/environments/:environment/archive",
    restore: "POST /v1/workspaces/:slug/environments/:environment/restore"
  },
  approvals: {
    list: "GET /v1/workspaces/:slug/approvals",
    request: "POST /v1/workspaces/:slug/approvals",
    get: "GET /v1/workspaces/:slug/approvals/:approval",
    approve: "POST /v1/workspaces/:slug/approvals/:approval/approve",
    reject: "POST /v1/workspaces/:slug/approvals/:approval/reject",
    end: "POST /v1/workspaces/:slug/approvals/:approval/end"
  },
  deployments: {
    list: "GET /v1/workspaces/:slug/deployments",
    create: "POST /v1/workspaces/:slug/deployments",
    get: "GET /v1/workspaces/:slug/deployments/:product/:environment",
    update: "PATCH /v1/workspaces/:slug/deployments/:product/:environment",
    delete: "DELETE /v1/workspaces/:slug/deployments/:product/:environment"
  },
  vault: {
    listOfProduct: "GET /v1/workspaces/:slug/products/:productSlug/secrets",
    create: "POST /v1/workspaces/:slug/products/:productSlug/secrets",
    get: "GET /v1/workspaces/:slug/products/:productSlug/secrets/:name",
    update: "PATCH /v1/workspaces/:slug/products/:productSlug/secrets/:name",
    delete: "DELETE /v1/workspaces/:slug/products/:productSlug/secrets/:name",
    list: "GET /v1/workspaces/:slug/vault",
    assign: "POST /v1/workspaces/:slug/vault/assignments",
    generate: "POST /v1/workspaces/:slug/vault/generations",
    versions: "GET /v1/workspaces/:slug/products/:productSlug/secrets/:name/environments/:environmentSlug/versions"
  },
  deploymentTokens: {
    list: "GET /v1/workspaces/:slug/deployments/:product/:environment/tokens",
    create: "POST /v1/workspaces/:slug/deployments/:product/:environment/tokens",
    rotate: "POST /v1/workspaces/:slug/deployments/:product/:environment/tokens/:token/rotate",
    revoke: "POST /v1/workspaces/:slug/deployments/:product/:environment/tokens/:token/revoke"
  },
  testRuns: {
    list: "GET /v1/workspaces/:slug/test-runs",
    start: "POST /v1/workspaces/:slug/test-runs",
    get: "GET /v1/workspaces/:slug/test-runs/:run",
    finish: "POST /v1/workspaces/:slug/test-runs/:run/finish",
    delete: "DELETE /v1/workspaces/:slug/test-runs/:run",
    signUrl: "POST /v1/workspaces/:slug/test-runs/:run/signed-urls"
  },
  retries: {
    start: "POST /v1/workspaces/:slug/test-runs/:run/retries",
    finish: "POST /v1/workspaces/:slug/test-runs/:run/retries/:retry/finish"
  },
  cases: {
    list: "GET /v1/workspaces/:slug/products/:product/cases",
    get: "GET /v1/workspaces/:slug/products/:product/cases/:caseId",
    errors: "GET /v1/workspaces/:slug/test-runs/:run/errors",
    trends: "GET /v1/workspaces/:slug/products/:product/trends"
  },
  savedFilters: {
    list: "GET /v1/workspaces/:slug/saved-filters",
    create: "POST /v1/workspaces/:slug/saved-filters",
    get: "GET /v1/workspaces/:slug/saved-filters/:filter",
    update: "PATCH /v1/workspaces/:slug/saved-filters/:filter",
    delete: "DELETE /v1/workspaces/:slug/saved-filters/:filter"
  },
  semaphores: {
    list: "GET /v1/workspaces/:slug/semaphores",
    usage: "GET /v1/workspaces/:slug/semaphores/usage"
  },
  teams: {
    list: "GET /v1/workspaces/:slug/teams",
    create: "POST /v1/workspaces/:slug/teams",
    get: "GET /v1/workspaces/:slug/teams/:team",
    update: "PATCH /v1/workspaces/:slug/teams/:team",
    archive: "POST /v1/workspaces/:slug/teams/:team/archive",
    restore: "POST /v1/workspaces/:slug/teams/:team/restore",
    listMembers: "GET /v1/workspaces/:slug/teams/:team/members",
    addMember: "POST /v1/workspaces/:slug/teams/:team/members",
    removeMember: "DELETE /v1/workspaces/:slug/teams/:team/members/:member"
  },
  tickets: {
    list: "GET /v1/workspaces/:slug/tickets",
    create: "POST /v1/workspaces/:slug/tickets",
    get: "GET /v1/workspaces/:slug/tickets/:ticket",
    history: "GET /v1/workspaces/:slug/tickets/:ticket/history",
    update: "PATCH /v1/workspaces/:slug/tickets/:ticket",
    updateMany: "POST /v1/workspaces/:slug/tickets/batch",
    delete: "DELETE /v1/workspaces/:slug/tickets/:ticket",
    reorder: "POST /v1/workspaces/:slug/tickets/:ticket/reorder"
  },
  mutes: {
    list: "GET /v1/workspaces/:slug/mutes",
    set: "PUT /v1/workspaces/:slug/tickets/:ticket/mute",
    end: "DELETE /v1/workspaces/:slug/tickets/:ticket/mute"
  },
  evidence: {
    get: "GET /v1/workspaces/:slug/tickets/:ticket/evidence"
  },
  testRules: {
    list: "GET /v1/workspaces/:slug/test-rules",
    create: "POST /v1/workspaces/:slug/test-rules",
    update: "PATCH /v1/workspaces/:slug/test-rules/:testRule",
    delete: "DELETE /v1/workspaces/:slug/test-rules/:testRule",
    tickets: "GET /v1/workspaces/:slug/test-rules/:testRule/tickets"
  },
  comments: {
    list: "GET /v1/workspaces/:slug/tickets/:ticket/comments",
    create: "POST /v1/workspaces/:slug/tickets/:ticket/comments",
    update: "PATCH /v1/workspaces/:slug/tickets/:ticket/comments/:comment",
    delete: "DELETE /v1/workspaces/:slug/tickets/:ticket/comments/:comment"
  },
  ticketNotifications: {
    list: "GET /v1/workspaces/:slug/ticket-notifications",
    read: "POST /v1/workspaces/:slug/ticket-notifications/read",
    unread: "POST /v1/workspaces/:slug/ticket-notifications/unread",
    markRead: "POST /v1/workspaces/:slug/ticket-notifications/:notification/read",
    markUnread: "POST /v1/workspaces/:slug/ticket-notifications/:notification/unread"
  },
  attachments: {
    list: "GET /v1/workspaces/:slug/tickets/:ticket/attachments",
    delete: "DELETE /v1/workspaces/:slug/tickets/:ticket/attachments/:attachment"
  },
  ticketStatuses: {
    list: "GET /v1/workspaces/:slug/ticket-statuses",
    create: "POST /v1/workspaces/:slug/ticket-statuses",
    update: "PATCH /v1/workspaces/:slug/ticket-statuses/:status",
    delete: "DELETE /v1/workspaces/:slug/ticket-statuses/:status",
    reorder: "POST /v1/workspaces/:slug/ticket-statuses/:status/reorder"
  },
  projects: {
    list: "GET /v1/workspaces/:slug/projects",
    create: "POST /v1/workspaces/:slug/projects",
    get: "GET /v1/workspaces/:slug/projects/:project",
    history: "GET /v1/workspaces/:slug/projects/:project/history",
    update: "PATCH /v1/workspaces/:slug/projects/:project",
    reorder: "POST /v1/workspaces/:slug/projects/:project/reorder",
    archive: "POST /v1/workspaces/:slug/projects/:project/archive",
    restore: "POST /v1/workspaces/:slug/projects/:project/restore",
    createMilestone: "POST /v1/workspaces/:slug/projects/:project/milestones",
    updateMilestone: "PATCH /v1/workspaces/:slug/projects/:project/milestones/:number",
    deleteMilestone: "DELETE /v1/workspaces/:slug/projects/:project/milestones/:number"
  },
  views: {
    list: "GET /v1/workspaces/:slug/views",
    create: "POST /v1/workspaces/:slug/views",
    get: "GET /v1/workspaces/:slug/views/:view",
    update: "PATCH /v1/workspaces/:slug/views/:view",
    delete: "DELETE /v1/workspaces/:slug/views/:view",
    reorder: "POST /v1/workspaces/:slug/views/:view/reorder",
    listTickets: "GET /v1/workspaces/:slug/views/:view/tickets"
  },
  agents: {
    list: "GET /v1/workspaces/:slug/agents",
    register: "POST /v1/workspaces/:slug/agents/register",
    revoke: "POST /v1/workspaces/:slug/agents/:agent/revoke"
  },
  authorizations: {
    get: "GET /auth/v1/authorizations/:authorization",
    decide: "POST /auth/v1/authorizations/:authorization",
    client: "GET /auth/v1/authorizations/:authorization/client"
  },
  messages: {
    list: "GET /v1/workspaces/:slug/messages",
    send: "POST /v1/workspaces/:slug/messages",
    get: "GET /v1/workspaces/:slug/messages/:message",
    decline: "POST /v1/workspaces/:slug/messages/:message/decline"
  },
  notifications: {
    list: "GET /v1/workspaces/:slug/notifications",
    read: "POST /v1/workspaces/:slug/notifications/read",
    markRead: "POST /v1/workspaces/:slug/notifications/:notification/read",
    markUnread: "POST /v1/workspaces/:slug/notifications/:notification/unread"
  },
  tags: {
    list: "GET /v1/workspaces/:slug/tags",
    create: "POST /v1/workspaces/:slug/tags",
    update: "PATCH /v1/workspaces/:slug/tags/:tag",
    delete: "DELETE /v1/workspaces/:slug/tags/:tag"
  },
  releases: {
    history: "GET /v1/workspaces/:slug/deployments/:product/:environment/history",
    version: "GET /v1/workspaces/:slug/products/:product/versions/:version",
    trace: "GET /v1/workspaces/:slug/tickets/:ticket/trace"
  },
  readiness: {
    get: "GET /v1/workspaces/:slug/deployments/:product/:environment/readiness",
    policy: "GET /v1/workspaces/:slug/deployments/:product/:environment/readiness-policy",
    setPolicy: "PUT /v1/workspaces/:slug/deployments/:product/:environment/readiness-policy",
    drift: "GET /v1/workspaces/:slug/deployments/:product/:environment/drift"
  },
  metrics: {
    delivery: "GET /v1/workspaces/:slug/metrics/delivery"
  },
  events: {
    list: "GET /v1/workspaces/:slug/events"
  },
  webhooks: {
    list: "GET /v1/workspaces/:slug/webhooks",
    create: "POST /v1/workspaces/:slug/webhooks",
    get: "GET /v1/workspaces/:slug/webhooks/:webhook",
    update: "PATCH /v1/workspaces/:slug/webhooks/:webhook",
    delete: "DELETE /v1/workspaces/:slug/webhooks/:webhook",
    rotate: "POST /v1/workspaces/:slug/webhooks/:webhook/rotate",
    test: "POST /v1/workspaces/:slug/webhooks/:webhook/test",
    deliveries: "GET /v1/workspaces/:slug/webhooks/:webhook/deliveries",
    redeliver: "POST /v1/workspaces/:slug/webhooks/:webhook/deliveries/:delivery/redeliver"
  },
  audit: {
    list: "GET /v1/workspaces/:slug/audit"
  },
  system: {
    health: "GET /health",
    ready: "GET /ready",
    jwks: "GET /.well-known/jwks.json"
  }
} as const

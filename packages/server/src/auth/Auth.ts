import { Layer } from "effect"
import { AccountSignIns } from "./AccountSignIns.ts"
import * as AuthHttp from "./AuthHttp.ts"
import { CiTokens } from "./CiTokens.ts"
import * as ExchangedTokensMemory from "./ExchangedTokensMemory.ts"
import { exchangedTokens } from "./ExchangedTokensRepo.ts"
import * as ExchangedTokensSql from "./ExchangedTokensSql.ts"
import { Identities } from "./Identities.ts"
import * as IdentitiesMemory from "./IdentitiesMemory.ts"
import { identities } from "./IdentitiesRepo.ts"
import * as IdentitiesSql from "./IdentitiesSql.ts"
import { IssuerKeys } from "./IssuerKeys.ts"
import { PasskeyProofs } from "./PasskeyProofs.ts"
import { Passkeys } from "./Passkeys.ts"
import * as PasskeysMemory from "./PasskeysMemory.ts"
import { passkeyChallenges, passkeys } from "./PasskeysRepo.ts"
import * as PasskeysSql from "./PasskeysSql.ts"
import { Providers } from "./Providers.ts"
import * as SessionAuthorizationHttp from "./SessionAuthorizationHttp.ts"
import * as IdentityMail from "./IdentityMail.ts"
import * as InvitePage from "./InvitePage.ts"
import * as KnownDevicesMemory from "./KnownDevicesMemory.ts"
import { knownDevices } from "./KnownDevicesRepo.ts"
import * as KnownDevicesSql from "./KnownDevicesSql.ts"
import { Logins } from "./Logins.ts"
import * as LoginPage from "./LoginPage.ts"
import * as LoginsHttp from "./LoginsHttp.ts"
import * as LoginsMemory from "./LoginsMemory.ts"
import { logins } from "./LoginsRepo.ts"
import * as LoginsSql from "./LoginsSql.ts"
import { MailedProofs } from "./MailedProofs.ts"
import * as MailedProofsMemory from "./MailedProofsMemory.ts"
import { mailedProofs } from "./MailedProofsRepo.ts"
import * as MailedProofsSql from "./MailedProofsSql.ts"
import { Outbox } from "./Outbox.ts"
import { Sessions } from "./Sessions.ts"
import { SignInAudit } from "./SignInAudit.ts"
import * as SignInFlowsMemory from "./SignInFlowsMemory.ts"
import { signInFlows } from "./SignInFlowsRepo.ts"
import * as SignInFlowsSql from "./SignInFlowsSql.ts"
import { SignInLinks } from "./SignInLinks.ts"
import * as SignInLinksMemory from "./SignInLinksMemory.ts"
import { signInLinks } from "./SignInLinksRepo.ts"
import * as SignInLinksSql from "./SignInLinksSql.ts"
import * as SignInPage from "./SignInPage.ts"
import { SingleSignOn } from "./SingleSignOn.ts"
import { Throttles } from "./Throttles.ts"
import * as ThrottlesMemory from "./ThrottlesMemory.ts"
import { throttles } from "./ThrottlesRepo.ts"
import * as ThrottlesSql from "./ThrottlesSql.ts"
import { TokenExchange } from "./TokenExchange.ts"
import { TokenReports } from "./TokenReports.ts"
import * as TokensHttp from "./TokensHttp.ts"

/**
 * How people sign in with a browser: links, mail, passkeys, accounts at providers, sessions, what limits attempts; the end of
 * reported tokens; and keys for tokens of CI.
 */

export const tables = [
  signInLinks,
  mailedProofs,
  knownDevices,
  passkeys,
  passkeyChallenges,
  identities,
  signInFlows,
  logins,
  throttles,
  exchangedTokens
]

export const layerSql = Layer.mergeAll(
  SignInLinksSql.layer,
  MailedProofsSql.layer,
  KnownDevicesSql.layer,
  PasskeysSql.layer,
  IdentitiesSql.layer,
  SignInFlowsSql.layer,
  LoginsSql.layer,
  ThrottlesSql.layer,
  ExchangedTokensSql.layer
)

export const layerMemory = Layer.mergeAll(
  SignInLinksMemory.layer,
  MailedProofsMemory.layer,
  KnownDevicesMemory.layer,
  PasskeysMemory.layer,
  IdentitiesMemory.layer,
  SignInFlowsMemory.layer,
  LoginsMemory.layer,
  ThrottlesMemory.layer,
  ExchangedTokensMemory.layer
)

/** Needs `RunTokens`, which the runs supply. */
export const layer = Layer.mergeAll(
  Passkeys.layer,
  SingleSignOn.layer,
  Identities.layer,
  Logins.layer,
  TokenReports.layer,
  TokenExchange.layer
).pipe(
  Layer.provide(AccountSignIns.layer),
  Layer.provide(Layer.provide(CiTokens.layer, IssuerKeys.layer)),
  Layer.provideMerge(Sessions.layer),
  Layer.provideMerge(MailedProofs.layer),
  Layer.provideMerge([SignInLinks.layer, PasskeyProofs.layer, Throttles.layer, Outbox.layer, Providers.layer]),
  Layer.provideMerge(SignInAudit.layer)
)

/** Supplies the port of identity by which invites are mailed. */
export const layerIdentityMail = Layer.provide(IdentityMail.layer, [Outbox.layer, Throttles.layer])

/** For commands of the host: the links that they print, and what the audit tells of them. */
export const layerHost = Layer.provideMerge(SignInLinks.layer, SignInAudit.layer)

/** Authenticates the requests of this room, and keeps other sites out. */
export const layerAuthorization = SessionAuthorizationHttp.layer

export const layerHttp = Layer.mergeAll(AuthHttp.layer, LoginsHttp.layer, TokensHttp.layer)

/** The pages `/sign-in`, `/invite` and `/cli`. A website that brings its own takes the place of this layer. */
export const layerPage = Layer.mergeAll(SignInPage.layer, InvitePage.layer, LoginPage.layer)

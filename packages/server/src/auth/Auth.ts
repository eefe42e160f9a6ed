import { Layer } from "effect"
import * as AuthHttp from "./AuthHttp.ts"
import * as SessionAuthorizationHttp from "./SessionAuthorizationHttp.ts"
import { Sessions } from "./Sessions.ts"
import { SignInLinks } from "./SignInLinks.ts"
import * as SignInLinksMemory from "./SignInLinksMemory.ts"
import { signInLinks } from "./SignInLinksRepo.ts"
import * as SignInLinksSql from "./SignInLinksSql.ts"
import * as SignInPage from "./SignInPage.ts"
import { Throttles } from "./Throttles.ts"
import * as ThrottlesMemory from "./ThrottlesMemory.ts"
import { throttles } from "./ThrottlesRepo.ts"
import * as ThrottlesSql from "./ThrottlesSql.ts"

/** How people sign in with a browser: links, sessions, and what limits attempts. */

export const tables = [signInLinks, throttles]

export const layerSql = Layer.merge(SignInLinksSql.layer, ThrottlesSql.layer)

export const layerMemory = Layer.merge(SignInLinksMemory.layer, ThrottlesMemory.layer)

export const layer = Sessions.layer.pipe(Layer.provideMerge([SignInLinks.layer, Throttles.layer]))

/** Authenticates the requests of this room, and keeps other sites out. */
export const layerAuthorization = SessionAuthorizationHttp.layer

export const layerHttp = AuthHttp.layer

/** The page `/sign-in`. A website that brings its own takes the place of this layer. */
export const layerPage = SignInPage.layer

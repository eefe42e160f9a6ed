import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { doc, PathRef } from "../Doc.ts"
import { Conflict, NotFound, TooManyRequests, Unauthorized } from "../Errors.ts"
import { Identities, SignInPurpose } from "./SingleSignOn.ts"
import { OwnPages } from "./SessionAuthorization.ts"

/** Signing in by a provider, such as a company's (docs/contract.md, Single sign-on): endpoints of the group `auth`. */

const provider = PathRef.annotate({
  description: "The provider's id: what follows `OIDC_` in its setting, in lower case, or `github`.",
  examples: ["corp"]
})

const IdentityRef = PathRef.annotate({
  description: "The identity's id.",
  examples: ["0197a1b2-0000-7000-8000-0000000000d7"]
})

const Redirect = HttpApiSchema.Empty(303)
const location = (description: string) => ({
  responses: { 303: { headers: { Location: { description, required: true, schema: { type: "string" as const } } } } }
})
const cookieOnly = "Requires the cookie of a session; an API key is 401."

/** Those that need the cookie of a session. */
export const identityEndpoints = [
  HttpApiEndpoint.get("identities", "/auth/v1/identities", { success: Identities }).annotateMerge(
    doc(
      "read",
      "List your identities",
      `Lists the accounts at providers by which you sign in, the oldest first. ${cookieOnly}`
    )
  ),
  HttpApiEndpoint.delete("deleteIdentity", "/auth/v1/identities/:identity", {
    params: { identity: IdentityRef },
    success: HttpApiSchema.NoContent.annotate({ description: "The account no longer signs you in." }),
    error: [NotFound, Conflict]
  }).annotateMerge(
    doc(
      "write",
      "Remove one of your identities",
      `Ends signing in with an account at a provider. The sessions that began with it go on. An identity that is not yours is 404. Needs a fresh proof (403 \`sudo_required\`). ${cookieOnly}`,
      {
        conflicts: {
          last_method: "This is your last way to sign in. Add another one first."
        }
      }
    )
  )
] as const

/** Those that a browser visits by itself. */
export const singleSignOnEndpoints = [
  HttpApiEndpoint.get("startSingleSignOn", "/auth/v1/oidc/:provider/start", {
    params: { provider },
    query: {
      purpose: Schema.optionalKey(SignInPurpose),
      returnTo: Schema.optionalKey(
        Schema.String.annotate({
          description: "Where the browser goes afterwards: a path of this service, else `/`.",
          examples: ["/workspaces/main"]
        })
      )
    },
    success: Redirect.annotate({
      description: "To the provider; to `/sign-in#error=failed` if the provider does not answer."
    }),
    error: [Unauthorized, NotFound, TooManyRequests]
  })
    .middleware(OwnPages)
    .annotateMerge(
      doc(
        "write",
        "Go to a provider to sign in",
        "Sends the browser to the provider, with PKCE, a state and a nonce, and binds the browser to it with a cookie of 10 minutes. `link` and `sudo` need the cookie of a session (401 without), `link` also a fresh proof (403 `sudo_required`) and a session that no workspace has blocked (403 `session_blocked`), and neither may be begun by a page of another site (403 `cross_site`). What a page of another site loads into itself, as an image or a frame, is 403 `cross_site`. An unknown provider is 404. The 601st time in an hour from one network address is 429. No API key is needed.",
        location("The provider's page, or `/sign-in#error=failed`.")
      )
    ),
  HttpApiEndpoint.get("finishSingleSignOn", "/auth/v1/oidc/:provider/callback", {
    params: { provider },
    query: {
      state: Schema.optionalKey(
        Schema.String.annotate({ description: "What the browser took to the provider.", examples: ["Xk2h...3w"] })
      ),
      code: Schema.optionalKey(
        Schema.String.annotate({ description: "What the provider gave the browser.", examples: ["SplxlOBeZQQ..."] })
      ),
      iss: Schema.optionalKey(
        Schema.String.annotate({
          description: "Who the provider says that it is (RFC 9207).",
          examples: ["https://login.corp.example"]
        })
      ),
      error: Schema.optionalKey(
        Schema.String.annotate({ description: "Why the provider gave no code.", examples: ["access_denied"] })
      )
    },
    success: Redirect.annotate({ description: "To where the browser wanted to go, else to `/sign-in#error=...`." }),
    error: [NotFound, TooManyRequests]
  })
    .middleware(OwnPages)
    .annotateMerge(
      doc(
        "write",
        "Come back from a provider",
        "Where providers send browsers back to: register `{BASE_URL}/auth/v1/oidc/{provider}/callback` there. A state works once, for 10 minutes, in the browser that it was made for. An account that is known signs its person in; so does one whose address the provider has verified and a person of this service has proven. Where nobody has proven that address and an invite to it is pending, a new person is made, in no workspace. Otherwise the browser goes to `/sign-in#error=` with `denied` (you refused), `failed`, `unavailable` (the provider gives no answer that can be used), `address_not_verified`, `no_account` (ask for an invite), `other_person` (with `link`: the account is somebody else's), `other_account` (with `sudo`: the account is not one of yours) or `too_many` (you sign in by 10 accounts, which is the limit). What fails counts like any other failed proof: after 20 in an hour from one network address, a state that does not work is 429. What a page of another site loads into itself, as an image or a frame, is 403 `cross_site`, and does not count. No API key is needed.",
        location("A path of this service.")
      )
    )
] as const

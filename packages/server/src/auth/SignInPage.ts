import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { readFileSync } from "node:fs"
import { Settings } from "../Config.ts"
import { htmlPage } from "../http/HtmlPage.ts"
import { Site } from "../website/Site.ts"
import { accountScript } from "./AccountScript.ts"
import { accountSection } from "./AccountSection.ts"
import { sessionScript } from "./SessionScript.ts"
import { signInScript } from "./SignInScript.ts"

/**
 * `GET /sign-in`: asks for an email, takes its code, and uses up the link whose token stands behind `#` in the address, when its
 * button is pressed. The token leaves the address at once, and the server gets it by `POST` alone: whoever only loads the
 * page, such as a preview of a chat, uses up nothing. Without a link, a passkey signs in, too, where the browser has them for
 * this address, and so do providers; the page says why one of them signed nobody in. Who is signed in joins by the invites
 * to them, verifies their address, ends sessions and other ways in, adds a passkey or an account, and makes an API key. Where
 * that needs a fresh proof, the page asks for one that the person has.
 */

const body = `<p id="reason" hidden></p>
<button id="use" class="primary" type="button" hidden>Sign in</button>
<div id="unproven" hidden>
<p id="loss" class="notice" hidden></p>
<button id="verify" type="button" hidden>Verify my address by email</button>
</div>
<button id="passkey" class="primary" type="button" hidden>Sign in with a passkey</button>
<nav id="providers" aria-label="Providers" hidden></nav>
<div id="by-code" hidden>
<label for="code">Code from the email</label>
<input id="code" type="text" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" maxlength="40">
<button id="enter" class="primary" type="button">Use this code</button>
<p class="muted"><button id="back" class="link" type="button">Go back</button></p>
</div>
<div id="by-mail" hidden>
<div id="address">
<label for="email">Email address</label>
<input id="email" type="email" autocomplete="email" maxlength="254">
</div>
<button id="ask" type="button">Email me a sign-in link</button>
</div>
<p id="help" class="muted" hidden></p>
<pre id="host-command" class="notice" hidden></pre>
<p id="cancel" class="muted" hidden><button id="to-account" class="link" type="button">Back to your account</button></p>
<p id="other" class="muted" hidden><button id="other-account" class="link" type="button">Use another account</button></p>
<a id="enter-workspace" class="button primary" href="/w/" hidden>Open</a>
${accountSection}`

/** What calls the browser's passkeys: a script that sets `SimpleWebAuthnBrowser`. */
const library = readFileSync(
  new URL("../dist/bundle/index.umd.min.js", import.meta.resolve("@simplewebauthn/browser")),
  "utf8"
)

/** Whoever opens the address of the service gets to the page. */
const toSignIn = HttpServerResponse.redirect("/sign-in", { status: 303, headers: { "cache-control": "no-store" } })

export const layer = HttpRouter.use((router) =>
  Effect.flatMap(Effect.all([Settings, Site]), ([{ baseUrl }, { isServed }]) => {
    const script = {
      source: `const hasWebsite = ${isServed}\n${sessionScript}${accountScript}${signInScript}`,
      library,
      baseUrl
    }
    const response = htmlPage({ title: "Sign in", body, script })
    return Effect.andThen(
      router.add("GET", "/sign-in", Effect.succeed(response)),
      // Where there is a website, it begins there.
      isServed ? Effect.void : router.add("GET", "/", Effect.succeed(toSignIn))
    )
  })
)

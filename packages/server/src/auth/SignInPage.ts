import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { Settings } from "../Config.ts"
import { relyingParty } from "./RelyingParty.ts"

/**
 * `GET /sign-in`: uses up the link whose token stands behind `#` in the address, when its button is pressed. The token
 * leaves the address at once, and the server gets it by `POST` alone: whoever only loads the page, such as a preview of a
 * chat, uses up nothing. Without a link, a passkey signs in, where the browser has them for this address.
 */

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { width: min(24rem, calc(100vw - 3rem)); }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; }
button { font: inherit; padding: .5rem 1rem; border: 1px solid; border-radius: .375rem; cursor: pointer; }
button:disabled { opacity: .5; cursor: default; }
[hidden] { display: none; }
`

const script = `
const text = document.getElementById("text")
const signIn = document.getElementById("sign-in")
const passkey = document.getElementById("passkey")
const signOut = document.getElementById("sign-out")
const { origin } = document.querySelector("main").dataset
const token = location.hash.slice(1)
history.replaceState(null, "", location.pathname)
const say = (message) => { text.textContent = message }
const call = async (method, path, body) => {
  const answer = await fetch("/auth/v1/" + path, {
    method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body)
  })
  return { status: answer.status, body: answer.status === 204 ? undefined : await answer.json() }
}
const show = ({ person, workspaces }) => {
  const names = workspaces.map(({ name, role }) => name + " (" + role + ")").join(", ")
  say("You are signed in as " + person.name + " <" + person.email + ">, " + (names === "" ? "in no workspace." : "in " + names + "."))
  signIn.hidden = true
  passkey.hidden = true
  signOut.hidden = false
}
const unreachable = () => say("The server does not answer. Try again.")
const began = async () => {
  const session = await call("GET", "session")
  if (session.status === 200) return show(session.body)
  signIn.hidden = true
  say("Your browser did not keep the session. Safari keeps none from an http address, not even on this computer: use another browser, or https.")
}
const printed = "Whoever runs this service prints one with: pnpm delivery sign-in-link EMAIL"
const start = async () => {
  const methods = await call("GET", "methods")
  if (!methods.body.available) return say("Browsers cannot sign in here: the address of this service, BASE_URL, must be https.")
  if (/^ltk_[0-9A-Za-z]{42}$/.test(token)) {
    say("This link signs you in, once.")
    signIn.hidden = false
    return signIn.focus()
  }
  const session = await call("GET", "session")
  if (session.status === 200) return show(session.body)
  if (!methods.body.passkeys || !isSecureContext || location.origin !== origin || !SimpleWebAuthnBrowser.browserSupportsWebAuthn()) {
    return say("To sign in, open a sign-in link. " + printed)
  }
  say("Sign in with a passkey, or open a sign-in link. " + printed)
  passkey.hidden = false
  passkey.focus()
}
signIn.addEventListener("click", async () => {
  signIn.disabled = true
  try {
    const begun = await call("POST", "links/consume", { token })
    if (begun.status !== 200) {
      say(begun.body.message)
      signIn.hidden = true
      return
    }
    await began()
  } catch {
    signIn.disabled = false
    unreachable()
  }
})
const prove = async (options) => {
  try {
    return await SimpleWebAuthnBrowser.startAuthentication({ optionsJSON: options })
  } catch {
    say("Your browser used no passkey. Try again, or open a sign-in link.")
  }
}
passkey.addEventListener("click", async () => {
  passkey.disabled = true
  try {
    const options = await call("POST", "passkeys/sign-in/options")
    if (options.status !== 200) return say(options.body.message)
    const proof = await prove(options.body)
    if (proof === undefined) return
    const begun = await call("POST", "passkeys/sign-in/verify", proof)
    if (begun.status !== 200) return say(begun.body.message)
    await began()
  } catch {
    unreachable()
  } finally {
    passkey.disabled = false
  }
})
signOut.addEventListener("click", async () => {
  try {
    await call("DELETE", "session")
    signOut.hidden = true
    say("You are signed out.")
  } catch {
    unreachable()
  }
})
start().catch(unreachable)
`

/** What calls the browser's passkeys: a script that sets `SimpleWebAuthnBrowser`. */
const library = readFileSync(
  new URL("../dist/bundle/index.umd.min.js", import.meta.resolve("@simplewebauthn/browser")),
  "utf8"
)

const scripts = `${library}\n${script}`

/** The page at the address of the service, the only one at which its passkeys work. */
const page = (origin: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Sign in</title>
<style>${style}</style>
</head>
<body>
<main data-origin="${origin}">
<h1>Workspace Delivery Service</h1>
<p id="text" role="status">This page needs JavaScript.</p>
<button id="sign-in" type="button" hidden>Sign in</button>
<button id="passkey" type="button" hidden>Sign in with a passkey</button>
<button id="sign-out" type="button" hidden>Sign out</button>
</main>
<script>${scripts}</script>
</body>
</html>
`

const source = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`

const policy = [
  "default-src 'none'",
  `script-src ${source(scripts)}`,
  `style-src ${source(style)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

const headers = {
  "cache-control": "no-store",
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

export const layer = HttpRouter.use((router) =>
  Effect.flatMap(Settings, ({ baseUrl }) => {
    const text = page(relyingParty(baseUrl).origin)
    const response = HttpServerResponse.text(text, { contentType: "text/html; charset=utf-8", headers })
    return router.add("GET", "/sign-in", Effect.succeed(response))
  })
)

import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { Settings } from "../Config.ts"
import { relyingParty } from "./RelyingParty.ts"

/**
 * `GET /sign-in`: asks for a mail, takes its code, and uses up the link whose token stands behind `#` in the address, when its
 * button is pressed. The token leaves the address at once, and the server gets it by `POST` alone: whoever only loads the
 * page, such as a preview of a chat, uses up nothing. Without a link, a passkey signs in, too, where the browser has them for
 * this address, and so do providers; the page says why one of them signed nobody in. What others named is shown as text, never
 * as markup.
 */

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { width: min(24rem, calc(100vw - 3rem)); }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; }
button { font: inherit; padding: .5rem 1rem; border: 1px solid; border-radius: .375rem; cursor: pointer; }
button:disabled { opacity: .5; cursor: default; }
label { display: block; margin-top: 1rem; }
input { font: inherit; box-sizing: border-box; width: 100%; padding: .5rem; margin: .25rem 0 .75rem; border: 1px solid; border-radius: .375rem; }
nav a { display: block; margin: .5rem 0; }
[hidden] { display: none; }
`

const script = `
const element = (id) => document.getElementById(id)
const text = element("text"), byMail = element("by-mail"), byCode = element("by-code")
const use = element("use"), ask = element("ask"), enter = element("enter"), passkey = element("passkey"), prove = element("prove"), signOut = element("sign-out")
const { origin } = document.querySelector("main").dataset
const problem = element("problem"), providers = element("providers")
const problems = new Map([
  ["denied", "You did not sign in there."],
  ["failed", "Signing in failed. Try again."],
  ["address_not_verified", "Your address is not verified there, so it does not say who you are here."],
  ["no_account", "Nobody here has your address, and no invite to it is pending. Ask for an invite."],
  ["other_person", "That account signs somebody else in."]
])
const [, isProof, token] = /^#(prove-)?(ltk_[0-9A-Za-z]{42})$/.exec(location.hash) ?? []
// Where to go on afterwards: kept a while, since a link may open in another tab.
const isWayBack = (text) => /^\\/authorize#[0-9a-f-]{36}$/.test(text)
const wayBack = new URLSearchParams(location.search).get("returnTo") ?? ""
if (isWayBack(wayBack)) localStorage.setItem("returnTo", JSON.stringify({ path: wayBack, until: Date.now() + 600_000 }))
const goBack = () => {
  const { path, until } = JSON.parse(localStorage.getItem("returnTo") ?? "{}")
  localStorage.removeItem("returnTo")
  if (!isWayBack(path) || !(until > Date.now())) return false
  location.replace(path)
  return true
}
const error = new URLSearchParams(location.hash.slice(1)).get("error")
history.replaceState(null, "", location.pathname)
let methods = { mail: false }
let codeProves = false
const say = (message) => { text.textContent = message }
const call = async (method, path, body) => {
  const answer = await fetch("/auth/v1/" + path, {
    method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body)
  })
  return { status: answer.status, body: answer.status === 204 ? undefined : await answer.json() }
}
const only = (...shown) => {
  for (const one of [use, passkey, byMail, byCode, prove, signOut, providers]) one.hidden = !shown.includes(one)
}
const hasPasskeys = () =>
  methods.passkeys && isSecureContext && location.origin === origin && SimpleWebAuthnBrowser.browserSupportsWebAuthn()
const offer = (message) => {
  say(message)
  only(...(hasPasskeys() ? [passkey] : []), ...(methods.mail ? [byMail] : []), providers)
  if (hasPasskeys()) return passkey.focus()
  if (methods.mail) element("email").focus()
}
const offerCode = (proves, message) => {
  codeProves = proves
  say(message)
  only(byCode, ...(proves ? [signOut] : [byMail]))
  element("code").value = ""
  element("code").focus()
}
const show = ({ invites, person, workspaces }) => {
  const names = workspaces.map(({ name, role }) => name + " (" + role + ")").join(", ")
  const invited = invites.length === 0 ? "" : " Invited to " + invites.map(({ workspace }) => workspace.name).join(", ") + "."
  say("You are signed in as " + person.name + " <" + person.email + ">, " + (names === "" ? "in no workspace." : "in " + names + ".") + invited)
  only(signOut, ...(methods.mail && person.emailVerifiedAt === null ? [prove] : []))
}
const showSession = async () => {
  const session = await call("GET", "session")
  if (session.status === 200) return goBack() || show(session.body)
  only()
  say("Your browser did not keep the session. Safari keeps none from an http address, not even on this computer: use another browser, or https.")
}
const doing = (button, work) => button.addEventListener("click", async () => {
  button.disabled = true
  try {
    await work()
  } catch {
    say("The server does not answer. Try again.")
  }
  button.disabled = false
})
const link = ({ name, url }) => {
  const one = document.createElement("a")
  one.href = url + "?returnTo=%2Fsign-in"
  one.textContent = "Sign in with " + name
  providers.append(one)
}
const start = async () => {
  methods = (await call("GET", "methods")).body
  if (!methods.available) return say("Browsers cannot sign in here: the address of this service, BASE_URL, must be https.")
  problem.textContent = problems.get(error) ?? ""
  methods.providers.forEach(link)
  const session = await call("GET", "session")
  if (token !== undefined && (!isProof || session.status === 200)) {
    use.textContent = isProof ? "Prove my address" : "Sign in"
    say(isProof ? "This link proves that your address is yours, once." : "This link signs you in, once.")
    only(use)
    return use.focus()
  }
  const isSignedIn = session.status === 200
  if (isSignedIn && session.body.session.sudoUntil !== null && goBack()) return
  if (isSignedIn && !isWayBack(wayBack)) return show(session.body)
  if (isProof) return offer("Sign in first. Then open the link of the mail again.")
  const ways = [...(hasPasskeys() ? ["Sign in with a passkey"] : []), ...(methods.mail ? ["have a mail sent to you"] : []), ...(methods.providers.length === 0 ? [] : ["choose a provider"])]
  const others = ways.length === 0 ? "To sign in, open a sign-in link. " : ways.join(", ").replace(/^./, (first) => first.toUpperCase()) + ", or open a sign-in link. "
  offer((isSignedIn ? "To go on, confirm that it is you. " : "") + others + "Whoever runs this service prints one with: pnpm delivery sign-in-link EMAIL")
}
doing(use, async () => {
  const used = await call("POST", isProof ? "email/consume" : "links/consume", { token })
  if (used.status === 200) return showSession()
  offer(used.body.message)
})
doing(passkey, async () => {
  const options = await call("POST", "passkeys/sign-in/options")
  if (options.status !== 200) return say(options.body.message)
  let proof
  try {
    proof = await SimpleWebAuthnBrowser.startAuthentication({ optionsJSON: options.body })
  } catch {
    return say("Your browser used no passkey. Try again, or open a sign-in link.")
  }
  const used = await call("POST", "passkeys/sign-in/verify", proof)
  if (used.status === 200) return showSession()
  say(used.body.message)
})
doing(ask, async () => {
  const asked = await call("POST", "links", { email: element("email").value })
  if (asked.status !== 202) return say(asked.body.message)
  offerCode(false, "If somebody has proven this address, a mail is on its way to it. Type its code here, or open its link in this browser.")
})
doing(prove, async () => {
  const asked = await call("POST", "email")
  if (asked.status !== 202) return say(asked.body.message)
  offerCode(true, "A mail is on its way to you. Type its code here, or open its link in this browser.")
})
doing(enter, async () => {
  const used = await call("POST", codeProves ? "email/consume" : "links/consume", { code: element("code").value })
  if (used.status === 200) return showSession()
  say(used.body.message)
  element("code").select()
})
doing(signOut, async () => {
  await call("DELETE", "session")
  offer("You are signed out.")
})
for (const [field, button] of [["email", ask], ["code", enter]]) {
  element(field).addEventListener("keydown", (event) => {
    if (event.key === "Enter") button.click()
  })
}
start().catch(() => say("The server does not answer. Load the page again."))
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
<p id="problem" role="alert"></p>
<p id="text" role="status">This page needs JavaScript.</p>
<nav id="providers" hidden></nav>
<button id="use" type="button" hidden>Sign in</button>
<button id="passkey" type="button" hidden>Sign in with a passkey</button>
<div id="by-code" hidden>
<label for="code">Code of the mail</label>
<input id="code" type="text" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" maxlength="40">
<button id="enter" type="button">Use the code</button>
</div>
<div id="by-mail" hidden>
<label for="email">Email address</label>
<input id="email" type="email" autocomplete="email" maxlength="254">
<button id="ask" type="button">Send me a mail</button>
</div>
<button id="prove" type="button" hidden>Prove my address by mail</button>
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

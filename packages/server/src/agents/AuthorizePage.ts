import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { sessionScript } from "../auth/SessionScript.ts"
import { Settings } from "../Config.ts"
import { htmlPage } from "../http/HtmlPage.ts"

/**
 * `GET /authorize`: what stands behind `#` in the address is the id of an authorization. The page shows who asks for access,
 * first of all where the access goes, and answers by `fetch`. Who is not signed in, or has not proven lately who they are, is
 * led to `/sign-in`, and back, before they choose.
 */

const body = `<section id="request" aria-labelledby="text host" hidden>
<p id="host"></p>
<p id="client"></p>
<p id="asks"></p>
<p id="who"></p>
<p><button id="other-account" class="link" type="button">Use another account</button></p>
<div id="choice">
<label for="workspace">Workspace</label>
<select id="workspace" aria-describedby="limits"></select>
</div>
<p id="limits" class="muted">It can see who you are in this workspace, and take and answer the messages that are sent to it. It can do nothing else.</p>
<button id="allow" class="primary" type="button">Allow</button>
<button id="refuse" type="button">Refuse</button>
</section>
<button id="sign-in" class="primary" type="button" hidden>Sign in</button>`

const source = `
let id, shown, loss
const option = (value, text) => {
  const made = document.createElement("option")
  made.value = value
  made.textContent = text
  return made
}
// Nobody comes back to this page by going back in the browser: it would lead to the same place again.
const leadToSignIn = () => {
  // The proof may become too old while somebody chooses.
  if (at("workspace").value !== "") sessionStorage.setItem("workspace of " + id, at("workspace").value)
  at("request").hidden = true
  say("Sign in first. Then you come back to this page.")
  at("sign-in").hidden = false
  location.replace("/sign-in?returnTo=" + encodeURIComponent("/authorize#" + id))
}
const end = (message) => {
  at("request").hidden = true
  at("sign-in").hidden = true
  say(message)
  focusText()
}
// Nobody is led back to what is answered.
const forget = () => {
  if (localStorage.getItem("returnTo")?.includes(id)) localStorage.removeItem("returnTo")
}
const old = () => {
  forget()
  end("This request was answered already, or is too old. Begin again in the program that sent you here.")
}
const show = ({ client, host, loopback, redirectUri, workspaces }) => {
  say((workspaces.length === 0 ? "You are in no workspace that it could be let into. " : "") +
    (loopback ? "A program on your own computer" : "A program") + " asks to act for you here.")
  at("host").textContent = host
  at("client").textContent = "It calls itself " + named(client.name) + ", and nobody has checked that. " +
    (client.kind === "document" ? "It is described at " + client.id : "It has registered itself here.")
  at("asks").textContent = loopback
    ? "Allow it only if you have just begun to sign in with a program on this computer."
    : "Allow it only if you have just begun to sign in there. You will be sent to " + redirectUri
  at("who").textContent = "You are signed in as " + whoIs(shown.person) + "."
  // Of several, one is chosen by the person, never by the page.
  const none = workspaces.length > 1 ? [option("", "Choose a workspace")] : []
  at("workspace").replaceChildren(...none, ...workspaces.map(({ id, name, role, slug }) => option(id, name + " (" + slug + "), you are " + role)))
  const chosen = sessionStorage.getItem("workspace of " + id)
  if (workspaces.some(({ id }) => id === chosen)) at("workspace").value = chosen
  for (const name of ["allow", "choice", "limits"]) at(name).hidden = workspaces.length === 0
  at("request").hidden = false
  at("sign-in").hidden = true
  // Whoever decides begins where it says about what.
  focusText()
}
const start = async () => {
  if (id === undefined) return end("This address is not complete. Begin again in the program that sent you here.")
  methods = (await call("GET", "methods")).body
  if (!methods.available) return end(insecure)
  if ((await call("GET", "authorizations/" + id + "/client", { expected: [404] })).status === 404) return old()
  shown = await currentSession()
  if (shown === undefined || shown.session.sudoUntil === null) return leadToSignIn()
  const found = await call("GET", "authorizations/" + id, { expected: [404] })
  if (found.status === 404) return old()
  loss = lossOf(shown.person, await waysIn(), " on the page of your account")
  show(found.body)
}
whenEnded = leadToSignIn
const lookAgain = somebodyElse + " Look again."
const decide = async (decision) => {
  const { body, status } = await call("POST", "authorizations/" + id, { body: decision, expected: ["sudo_required", 404, "other_person"] })
  if (status === 200) {
    forget()
    end("You have " + (decision.allow ? "allowed" : "refused") + " it. You can close this page.")
    return location.replace(body.location)
  }
  if (status === 403) return leadToSignIn()
  // The request may be answered, or the workspace be no longer one to choose.
  await start()
  if (!at("request").hidden) warn(status === 409 ? lookAgain : body.message)
}
const deciding = (button, decision) => button.addEventListener("click", () => press(async () => {
  const decided = decision()
  if (decided.workspace === "") return wrong("workspace", "Choose a workspace first.")
  await decide(decided)
}, at("allow"), at("refuse")))
deciding(at("allow"), () => ({ allow: true, workspace: at("workspace").value, person: shown.person.id }))
deciding(at("refuse"), () => ({ allow: false }))
at("sign-in").addEventListener("click", leadToSignIn)
doingTwice(at("other-account"), async () => {
  const now = await currentSession()
  if (now !== undefined && now.person.id !== shown.person.id) {
    await start()
    return warn(lookAgain)
  }
  await call("DELETE", "session")
  leadToSignIn()
}, { why: () => loss })
const begin = () => inTurn(() => {
  const { hash } = location
  id = /^#[0-9a-f-]{36}$/.test(hash) ? hash.slice(1) : undefined
  pointHome("/authorize" + (id === undefined ? "" : hash))
  return start()
})
addEventListener("hashchange", begin)
begin()
`

export const layer = HttpRouter.use((router) =>
  Effect.flatMap(Settings, ({ baseUrl }) => {
    const script = { source: `${sessionScript}${source}`, baseUrl }
    return router.add("GET", "/authorize", Effect.succeed(htmlPage({ title: "Allow access?", body, script })))
  })
)

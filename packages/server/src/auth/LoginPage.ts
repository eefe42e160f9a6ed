import type { Scope } from "@delivery/domain/Scope"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { Settings } from "../Config.ts"
import { htmlPage } from "../http/HtmlPage.ts"
import { consentScript } from "./ConsentScript.ts"
import { sessionScript } from "./SessionScript.ts"

/**
 * `GET /cli`: what stands behind `#` in the address is the id of a login of the command line. The page shows where the key
 * goes, and what it may do, and gives no more. Where the program is on another computer, its terminal shows a code, which the
 * person types: who sent somebody a link alone gets no key (RFC 8628, section 5.4).
 */

const body = `<section id="request" aria-labelledby="text host" hidden>
<div class="notice">
<p id="host"></p>
<p id="client"></p>
<p id="asks"></p>
</div>
<p class="row"><span id="who"></span> <button id="other-account" class="link" type="button">Use another account</button></p>
<div id="typed">
<label for="user-code">Code in your terminal</label>
<input id="user-code" type="text" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="40">
</div>
<label for="name">Name of the key</label>
<input id="name" type="text" autocomplete="off" spellcheck="false" maxlength="160">
<fieldset id="scopes" tabindex="-1"><legend>What the key may do</legend></fieldset>
<label for="until">The key ends</label>
<select id="until"></select>
<p class="muted">It acts as you, in each of your workspaces. You can end it on the page of your account, and by <code>delivery logout</code>.</p>
<div class="row">
<button id="allow" class="primary" type="button">Allow</button>
<button id="refuse" type="button">Refuse</button>
</div>
</section>
<button id="sign-in" class="primary" type="button" hidden>Sign in</button>`

/** What people read of a scope. */
const scopeTexts: Readonly<Record<Scope, string>> = {
  read: "Read products, runs, tickets and the rest",
  write: "Change tickets, deployments and the rest",
  publish: "Publish test runs and their files",
  vault: "Read and write secrets; values of production can only be written",
  admin: "Manage the workspace, and make keys"
}

const source = `
const scopeTexts = ${JSON.stringify(scopeTexts)}
const days = [1, 7, 30]
const day = (time) => new Date(time).toLocaleDateString(undefined, { dateStyle: "medium" })
let asked
const element = (name, fields, ...children) => {
  const made = Object.assign(document.createElement(name), fields)
  made.append(...children)
  return made
}
const boxes = () => [...at("scopes").querySelectorAll("input")]
// What was typed and chosen is there again after the sign-in.
const keep = () => {
  if (asked === undefined) return
  const chosen = { name: at("name").value, code: at("user-code").value, until: at("until").value, scopes: boxes().filter(({ checked }) => checked).map(({ value }) => value) }
  sessionStorage.setItem("choice of " + id, JSON.stringify(chosen))
}
const show = (login) => {
  asked = login
  const { address, host, keyExpiresAt, name, scopes } = login
  const isHere = host !== null
  say("The command line on " + (isHere ? "your own" : "another") + " computer asks for an API key of yours.")
  at("host").textContent = isHere ? host : address
  at("client").textContent = "It calls itself " + named(name) + ", and nobody has checked that." + (isHere ? "" : " It asks from the network address " + address + ".")
  at("asks").textContent = isHere
    ? "Allow it only if you have just begun to sign in with the command line on this computer."
    : "Allow it only if you have just begun to sign in there yourself, and see the code in your own terminal. Never type a code that somebody sends you: they would act as you."
  at("typed").hidden = isHere
  const kept = JSON.parse(sessionStorage.getItem("choice of " + id) ?? "{}")
  at("user-code").value = kept.code ?? ""
  at("name").value = kept.name ?? name
  at("scopes").replaceChildren(at("scopes").firstElementChild, ...(scopes ?? Object.keys(scopeTexts)).map((scope) =>
    element("label", {}, element("input", { type: "checkbox", value: scope, checked: kept.scopes?.includes(scope) ?? true }), scopeTexts[scope] + " (" + scope + ")")))
  const shorter = days.filter((count) => Date.now() + count * 86_400_000 < Date.parse(keyExpiresAt))
  at("until").replaceChildren(
    element("option", { value: "", textContent: "On " + day(keyExpiresAt) }),
    ...shorter.toReversed().map((count) => element("option", { value: String(count), textContent: "In " + count + (count === 1 ? " day" : " days") })))
  at("until").value = kept.until ?? ""
}
const fields = { userCode: "user-code", name: "name", scopes: "scopes", keyExpiresAt: "until" }
const invalid = ({ issues, message }) => {
  const [{ message: problem, path: [field] }] = issues
  return field in fields ? wrong(fields[field], problem + ".") : warn(message)
}
const allowing = (person) => {
  const scopes = boxes().filter(({ checked }) => checked).map(({ value }) => value)
  const [code, name, until] = ["user-code", "name", "until"].map((field) => at(field).value.trim())
  if (asked.host === null && code === "") return wrong("user-code", "Type the code that your terminal shows.")
  if (name === "") return wrong("name", "Type a name for the key.")
  if (scopes.length === 0) return wrong("scopes", "Choose what the key may do.")
  return {
    allow: true,
    person: person.id,
    name,
    ...(asked.host === null ? { userCode: code } : {}),
    // Who leaves all gives all, also what is added later.
    ...(scopes.length === boxes().length ? {} : { scopes }),
    ...(until === "" ? {} : { keyExpiresAt: new Date(Date.now() + Number(until) * 86_400_000).toISOString() })
  }
}
const done = ({ allow }, location) => {
  sessionStorage.removeItem("choice of " + id)
  if (!allow) return "You have refused it. You can close this page."
  return "You have allowed it. The command line goes on" + (location === null ? " in a few seconds" : "") + ". You can close this page."
}
${consentScript({ page: "/cli", calls: "cli/logins/", asker: "/program" })}`

export const layer = HttpRouter.use((router) =>
  Effect.flatMap(Settings, ({ baseUrl }) => {
    const script = { source: `${sessionScript}${source}`, baseUrl }
    return router.add("GET", "/cli", Effect.succeed(htmlPage({ title: "Sign in the command line?", body, script })))
  })
)

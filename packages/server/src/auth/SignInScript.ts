/** What the page `/sign-in` does (SignInPage.ts), over what scripts of pages share and `accountScript`. */
export const signInScript = `
const { origin } = document.querySelector("main").dataset
const problems = new Map([
  ["denied", "You did not sign in there."],
  ["failed", "Signing in failed. Try again."],
  ["address_not_verified", "Your address is not verified there, so it does not say who you are here."],
  ["no_account", "Nobody here has your address, and no invite to it is pending. Ask for an invite."],
  ["other_person", "That account signs somebody else in."],
  ["too_many", "You sign in by 10 accounts already, which is the limit. Remove one first."]
])
const incomplete = "This address is not complete. Open the link again, or copy all of it."
const answered = "This request was answered already, or is too old. Begin again in the program that sent you here."
const helped = "Ask the person who runs this service for a sign-in link."
const parts = ["reason", "use", "passkey", "providers", "by-code", "by-mail", "help", "cancel", "account"]
const only = (...shown) => {
  for (const name of parts) at(name).hidden = !shown.includes(name)
  if (!shown.includes("account")) forgetKey()
}
// Where to go on afterwards: kept a while, since a link may open in another tab.
const isWayBack = (text) => /^\\/authorize#[0-9a-f-]{36}$/.test(text)
const pending = () => {
  const { path, until } = JSON.parse(localStorage.getItem("returnTo") ?? "{}")
  return isWayBack(path) && until > Date.now() ? path : undefined
}
const clientAt = (path) => call("GET", "authorizations/" + path.slice("/authorize#".length) + "/client")
const goBack = async () => {
  const path = pending()
  localStorage.removeItem("returnTo")
  if (path === undefined || (await clientAt(path)).status === 404) return false
  location.replace(path)
  return true
}
const isReloaded = () => performance.getEntriesByType("navigation")[0]?.type === "reload"
// What the address says, which then says it no longer.
const arrive = () => {
  const { hash, search } = location
  const [, kind, token] = /^#(prove-)?(ltk_[0-9A-Za-z]{42})$/.exec(hash) ?? []
  const [, joined] = /^#joined-([0-9a-f-]{36})$/.exec(hash) ?? []
  const returnTo = new URLSearchParams(search).get("returnTo") ?? ""
  const wayBack = isWayBack(returnTo) ? returnTo : undefined
  const error = problems.get(new URLSearchParams(hash.slice(1)).get("error"))
  const isBroken = hash !== "" && (token ?? joined ?? error) === undefined
  history.replaceState(null, "", location.pathname)
  if (wayBack !== undefined) localStorage.setItem("returnTo", JSON.stringify({ path: wayBack, until: Date.now() + 600_000 }))
  else if (hash === "" && !isReloaded()) localStorage.removeItem("returnTo")
  return { isVerifying: kind !== undefined, token, joined, wayBack, problem: isBroken ? incomplete : error ?? "" }
}
let arrived
// One after the other: a link may be pasted while the page still starts.
let begun = Promise.resolve()
let methods = { mail: false, providers: [] }
let codeVerifies = false
// What the person was doing when they were asked who they are.
let interrupted = "text"
const hasPasskeys = () =>
  methods.passkeys && isSecureContext && location.origin === origin && SimpleWebAuthnBrowser.browserSupportsWebAuthn()
const entitle = (title) => {
  at("title").textContent = title
  document.title = title + " · Workspace Delivery Service"
}
const awaited = (verifies) => (verifies ? "An email is on its way to you." : "If there is an account with this address, an email is on its way to it.") +
  " Type its code here, or open its link in this browser. Nothing after a few minutes? Go back and ask again."
const offer = (message, address = "", ...more) => {
  entitle("Sign in")
  const ways = [...(hasPasskeys() ? ["passkey"] : []), ...(methods.providers.length > 0 ? ["providers"] : []), ...(methods.mail ? ["by-mail"] : [])]
  say(ways.length === 0 ? (message + " To sign in, open a sign-in link.").trim() : message)
  at("help").textContent = ways.length === 0 ? helped : "No way in works? " + helped
  at("email").value = address
  only(...ways, "help", ...more, ...(at("reason").textContent === "" ? [] : ["reason"]))
  if (hasPasskeys()) return at("passkey").focus()
  return methods.mail ? at("email").focus() : focusText()
}
// That a mail was asked for, so that a page that is loaded again has the field of its code. Neither address nor secret.
const awaitCode = (isSignedIn) => sessionStorage.setItem("asked", JSON.stringify({ codeVerifies, isSignedIn, until: Date.now() + 900_000 }))
const awaitNoCode = () => sessionStorage.removeItem("asked")
const awaitsCode = ({ body, status }) => {
  const { codeVerifies: verifies, isSignedIn, until } = JSON.parse(sessionStorage.getItem("asked") ?? "{}")
  if (!(until > Date.now()) || isSignedIn !== (status === 200) || (verifies && body.person.emailVerifiedAt !== null)) return false
  codeVerifies = verifies
  return true
}
const offerCode = (verifies, message) => {
  codeVerifies = verifies
  entitle(verifies ? "Your account" : "Sign in")
  say(message)
  only("by-code", ...(at("reason").textContent === "" ? [] : ["reason"]))
  at("code").value = ""
  at("code").focus()
}
const join = (invite) => {
  const button = buttonFor("Join", invite.workspace.name)
  doing(button, async () => {
    const joined = await call("POST", "invites/" + invite.id + "/accept")
    if (joined.status === 200) return show(joined.body, "You have joined " + named(invite.workspace.name) + " as " + invite.role + ". ")
    if (joined.status === 404) return warn("That invite was revoked or has expired. Ask whoever invited you for another one.")
    await isDone(joined, "join", "text")
  })
  return item(invite.workspace.name + ", as " + invite.role + ", from " + invite.inviter.name, button)
}
const show = async ({ invites, person, workspaces }, news = "") => {
  at("add-passkey").hidden = !hasPasskeys()
  shown = person.id
  if (!(await list(workspaces))) return
  entitle("Your account")
  say(news + "You are signed in as " + person.name + " (" + person.email + ")" + (workspaces.length === 0 ? ", in no workspace." : "."))
  fill("workspaces", workspaces.map(({ name, role }) => item(name + " (" + role + ")")))
  at("invites").replaceChildren(...invites.map(join))
  at("invited").hidden = invites.length === 0
  at("verify").hidden = !methods.mail || person.emailVerifiedAt !== null
  only("account")
  at(interrupted).focus()
  interrupted = "text"
}
const showSession = async (news) => {
  awaitNoCode()
  const session = await call("GET", "session")
  if (session.status === 200) return (await goBack()) || show(session.body, news)
  only()
  say("Your browser did not keep the session. Safari keeps none from an http address, not even on this computer: use another browser, or https.")
}
const link = ({ name, url }) => {
  const one = document.createElement("a")
  one.className = "button"
  const path = pending()
  const here = path === undefined ? "/sign-in" : "/sign-in?returnTo=" + encodeURIComponent(path)
  one.href = url + "?returnTo=" + encodeURIComponent(here)
  one.textContent = "Sign in with " + name
  return one
}
// For whom one signs in; undefined for nobody who still waits for an answer.
const explain = async (wayBack) => {
  at("reason").textContent = ""
  if (wayBack === undefined) return undefined
  const { body, status } = await clientAt(wayBack)
  if (status === 404) {
    localStorage.removeItem("returnTo")
    warn(answered)
    return undefined
  }
  if (status === 200) at("reason").textContent = named(body.name) + " at " + body.host + " asks for access. You decide about it after this."
  return wayBack
}
const start = async ({ isVerifying, joined, problem, token, wayBack: asked }) => {
  methods = (await call("GET", "methods")).body
  if (!methods.available) return say(insecure)
  const wayBack = await explain(asked)
  at("providers").replaceChildren(...methods.providers.map(link))
  const session = await call("GET", "session")
  const isSignedIn = session.status === 200
  if (token !== undefined && (!isVerifying || isSignedIn)) {
    entitle("Sign in")
    at("use").textContent = isVerifying ? "Verify my address" : "Sign in"
    say(isVerifying ? "This link verifies that your address is yours, once." : "This link signs you in, once.")
    only("use")
    return at("use").focus()
  }
  if (isSignedIn && session.body.session.sudoUntil !== null && (await goBack())) return
  if (problem === "" && asked === undefined && joined === undefined && awaitsCode(session)) return offerCode(codeVerifies, awaited(codeVerifies))
  awaitNoCode()
  if (isSignedIn && wayBack === undefined) {
    const workspace = session.body.workspaces.find(({ id }) => id === joined)
    return show(session.body, workspace === undefined ? "" : "You have joined " + named(workspace.name) + " as " + workspace.role + ". ")
  }
  if (token !== undefined) return offer("Sign in first. Then open the link from the email again.")
  if (!isSignedIn) return offer(wayBack === undefined ? "" : "Sign in to go on.")
  offer("Confirm that it is you, " + session.body.person.name + ": you signed in a while ago.", session.body.person.email)
}
const failed = (used, words) => warn(used.body.reason === "sign_in_failed" ? words : used.body.message)
doing(at("use"), async () => {
  const { isVerifying, token } = arrived
  const used = await call("POST", isVerifying ? "email/consume" : "links/consume", { token })
  if (used.status === 200) return showSession(isVerifying ? "Your address is verified. " : "")
  const session = await call("GET", "session")
  if (session.status === 200) await show(session.body)
  else offer(isVerifying ? sessionEnded : "")
  if (isVerifying && isEnded(used)) return
  failed(used, isVerifying ? "This link is for another account, was used, or has expired." : "That link was used already or has expired. Ask for another one.")
})
doing(at("passkey"), async () => {
  const options = await call("POST", "passkeys/sign-in/options")
  if (options.status !== 200) return warn(options.body.message)
  let proof
  try {
    proof = await SimpleWebAuthnBrowser.startAuthentication({ optionsJSON: options.body })
  } catch {
    return warn("Your browser used no passkey. Try again, or sign in in another way.")
  }
  const used = await call("POST", "passkeys/sign-in/verify", proof)
  if (used.status === 200) return showSession()
  failed(used, "That passkey does not sign anybody in here. Use another one, or sign in in another way.")
})
doing(at("ask"), async () => {
  const asked = await call("POST", "links", { email: at("email").value.trim() })
  if (asked.status === 400) {
    warn("Type your email address.")
    return at("email").focus()
  }
  if (asked.status !== 202) return warn(asked.body.message)
  const session = await call("GET", "session")
  offerCode(false, awaited(false))
  awaitCode(session.status === 200)
})
doing(at("verify"), async () => {
  const asked = await call("POST", "email")
  if (!(await isDone(asked, "verify your address", "verify"))) return
  offerCode(true, awaited(true))
  awaitCode(true)
})
doing(at("enter"), async () => {
  const used = await call("POST", codeVerifies ? "email/consume" : "links/consume", { code: at("code").value })
  if (used.status === 200) return showSession(codeVerifies ? "Your address is verified. " : "")
  at("code").select()
  if (used.status === 400) return warn("Type the code from the email first.")
  if (codeVerifies && isEnded(used)) return offer(sessionEnded)
  failed(used, "That code is wrong or has expired.")
})
doing(at("back"), () => {
  awaitNoCode()
  return start({ ...arrived, problem: "", token: undefined })
})
doing(at("add-passkey"), async () => {
  if (!(await isStillShown())) return
  const options = await call("POST", "passkeys/options")
  if (!(await isDone(options, "add a passkey", "add-passkey"))) return
  let response
  try {
    response = await SimpleWebAuthnBrowser.startRegistration({ optionsJSON: options.body })
  } catch (error) {
    return warn(error.name === "InvalidStateError" ? "This device has a passkey for this service already." : "Your browser made no passkey. Try again.")
  }
  const added = await call("POST", "passkeys/verify", { response })
  if (!(await isDone(added, "add a passkey", "add-passkey")) || !(await list())) return
  tell("Passkey " + named(added.body.name) + " is added. You can sign in with it from now on.")
})
doing(at("to-account"), async () => {
  interrupted = "text"
  const session = await call("GET", "session")
  return session.status === 200 ? show(session.body) : offer(sessionEnded)
})
doing(at("sign-out"), async () => {
  await call("DELETE", "session")
  offer("You are signed out.")
})
onEnter("email", "ask")
onEnter("code", "enter")
const begin = () => {
  const now = arrived = arrive()
  begun = begun.then(() => {
    warn(now.problem)
    return start(now)
  }).catch(() => {
    // So that the page finds it when it is loaded again.
    if (now.token !== undefined) history.replaceState(null, "", "/sign-in#" + (now.isVerifying ? "prove-" : "") + now.token)
    say("")
    warn("The server does not answer. Load the page again.")
  })
}
addEventListener("hashchange", begin)
begin()
`

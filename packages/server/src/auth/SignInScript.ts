/** What the page `/sign-in` does (SignInPage.ts), over what scripts of pages share. */
export const signInScript = `
const { origin } = document.querySelector("main").dataset
const problems = new Map([
  ["denied", "You did not sign in there."],
  ["failed", "Signing in failed. Try again."],
  ["address_not_verified", "Your address is not verified there, so it does not say who you are here."],
  ["no_account", "Nobody here has your address, and no invite to it is pending. Ask for an invite."],
  ["other_person", "That account signs somebody else in."]
])
const helped = "Ask the person who runs this service for a sign-in link."
const parts = ["reason", "use", "passkey", "providers", "by-code", "by-mail", "help", "account"]
const only = (...shown) => {
  for (const name of parts) at(name).hidden = !shown.includes(name)
}
// Where to go on afterwards: kept a while, since a link may open in another tab.
const isWayBack = (text) => /^\\/authorize#[0-9a-f-]{36}$/.test(text)
const goBack = () => {
  const { path, until } = JSON.parse(localStorage.getItem("returnTo") ?? "{}")
  localStorage.removeItem("returnTo")
  if (!isWayBack(path) || !(until > Date.now())) return false
  location.replace(path)
  return true
}
// What the address says, which then says it no longer.
const arrive = () => {
  const [, kind, token] = /^#(prove-)?(ltk_[0-9A-Za-z]{42})$/.exec(location.hash) ?? []
  const [, joined] = /^#joined-([0-9a-f-]{36})$/.exec(location.hash) ?? []
  const wayBack = new URLSearchParams(location.search).get("returnTo") ?? ""
  const error = new URLSearchParams(location.hash.slice(1)).get("error")
  history.replaceState(null, "", location.pathname)
  if (isWayBack(wayBack)) localStorage.setItem("returnTo", JSON.stringify({ path: wayBack, until: Date.now() + 600_000 }))
  return { isVerifying: kind !== undefined, token, joined, error, wayBack: isWayBack(wayBack) ? wayBack : undefined }
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
const item = (text, button) => {
  const one = document.createElement("li")
  const label = document.createElement("span")
  label.textContent = text
  one.append(label, ...(button === undefined ? [] : [button]))
  return one
}
const entitle = (title) => {
  at("title").textContent = title
}
const offer = (message, address = "") => {
  entitle("Sign in")
  const ways = [...(hasPasskeys() ? ["passkey"] : []), ...(methods.providers.length > 0 ? ["providers"] : []), ...(methods.mail ? ["by-mail"] : [])]
  say(ways.length === 0 ? (message + " To sign in, open a sign-in link.").trim() : message)
  at("help").textContent = ways.length === 0 ? helped : "No way in works? " + helped
  at("email").value = address
  only(...ways, "help", ...(at("reason").textContent === "" ? [] : ["reason"]))
  if (hasPasskeys()) return at("passkey").focus()
  return methods.mail ? at("email").focus() : focusText()
}
const offerCode = (verifies, message) => {
  codeVerifies = verifies
  say(message)
  only("by-code")
  at("code").value = ""
  at("code").focus()
}
const join = (invite) => {
  const button = document.createElement("button")
  button.type = "button"
  button.textContent = "Join"
  button.setAttribute("aria-label", "Join " + invite.workspace.name)
  doing(button, async () => {
    const joined = await call("POST", "invites/" + invite.id + "/accept")
    if (joined.status === 200) return show(joined.body, "You have joined " + named(invite.workspace.name) + " as " + invite.role + ". ")
    if (joined.status === 401) return offer("You are no longer signed in.")
    warn(joined.status === 404 ? "That invite was revoked or has expired. Ask whoever invited you for another one." : joined.body.message)
  })
  return item(invite.workspace.name + ", as " + invite.role + ", from " + invite.inviter.name, button)
}
const show = ({ invites, person, workspaces }, news = "") => {
  entitle("Your account")
  say(news + "You are signed in as " + person.name + " (" + person.email + ")" + (workspaces.length === 0 ? ", in no workspace." : "."))
  at("workspaces").replaceChildren(...workspaces.map(({ name, role }) => item(name + " (" + role + ")")))
  at("workspaces").hidden = workspaces.length === 0
  at("invites").replaceChildren(...invites.map(join))
  at("invited").hidden = invites.length === 0
  at("verify").hidden = !methods.mail || person.emailVerifiedAt !== null
  at("add-passkey").hidden = !hasPasskeys()
  only("account")
  at(interrupted).focus()
  interrupted = "text"
}
const showSession = async (news) => {
  const session = await call("GET", "session")
  if (session.status === 200) return goBack() || show(session.body, news)
  only()
  say("Your browser did not keep the session. Safari keeps none from an http address, not even on this computer: use another browser, or https.")
}
const link = ({ name, url }) => {
  const one = document.createElement("a")
  one.className = "button"
  one.href = url + "?returnTo=%2Fsign-in"
  one.textContent = "Sign in with " + name
  return one
}
const explain = async (wayBack) => {
  at("reason").textContent = ""
  if (wayBack === undefined) return
  const asked = await call("GET", "authorizations/" + wayBack.slice("/authorize#".length) + "/client")
  if (asked.status === 200) at("reason").textContent = named(asked.body.name) + " at " + asked.body.host + " asks for access. You decide about it after this."
}
const start = async ({ isVerifying, joined, token, wayBack }) => {
  methods = (await call("GET", "methods")).body
  if (!methods.available) return say(insecure)
  at("providers").replaceChildren(...methods.providers.map(link))
  const session = await call("GET", "session")
  const isSignedIn = session.status === 200
  if (token !== undefined && (!isVerifying || isSignedIn)) {
    at("use").textContent = isVerifying ? "Verify my address" : "Sign in"
    say(isVerifying ? "This link verifies that your address is yours, once." : "This link signs you in, once.")
    only("use")
    return at("use").focus()
  }
  if (isSignedIn && session.body.session.sudoUntil !== null && goBack()) return
  if (isSignedIn && wayBack === undefined) {
    const workspace = session.body.workspaces.find(({ id }) => id === joined)
    return show(session.body, workspace === undefined ? "" : "You have joined " + named(workspace.name) + " as " + workspace.role + ". ")
  }
  if (token !== undefined) return offer("Sign in first. Then open the link from the email again.")
  await explain(wayBack)
  if (!isSignedIn) return offer(wayBack === undefined ? "" : "Sign in to go on.")
  offer("Confirm that it is you, " + session.body.person.name + ": you signed in a while ago.", session.body.person.email)
}
const failed = (used, words) => warn(used.body.reason === "sign_in_failed" ? words : used.body.message)
doing(at("use"), async () => {
  const { isVerifying, token } = arrived
  const used = await call("POST", isVerifying ? "email/consume" : "links/consume", { token })
  if (used.status === 200) return showSession(isVerifying ? "Your address is verified. " : "")
  offer("")
  failed(used, "That link was used already or has expired. Ask for another one.")
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
  const asked = await call("POST", "links", { email: at("email").value })
  if (asked.status !== 202) return warn(asked.body.message)
  offerCode(false, "If there is an account with this address, an email is on its way to it. Type its code here, or open its link in this browser.")
})
doing(at("verify"), async () => {
  const asked = await call("POST", "email")
  if (asked.status !== 202) return warn(asked.body.message)
  offerCode(true, "An email is on its way to you. Type its code here, or open its link in this browser.")
})
doing(at("enter"), async () => {
  const used = await call("POST", codeVerifies ? "email/consume" : "links/consume", { code: at("code").value })
  if (used.status === 200) return showSession(codeVerifies ? "Your address is verified. " : "")
  at("code").select()
  if (used.status === 400) return warn("Type the code from the email first.")
  failed(used, "That code is wrong or has expired.")
})
doing(at("back"), () => start({ ...arrived, token: undefined }))
doing(at("add-passkey"), async () => {
  const options = await call("POST", "passkeys/options")
  if (options.body.reason === "sudo_required") {
    const { body } = await call("GET", "session")
    interrupted = "add-passkey"
    return offer("Before you add a passkey, confirm that it is you: you signed in a while ago.", body.person?.email)
  }
  if (options.status !== 200) return warn(options.body.message)
  let response
  try {
    response = await SimpleWebAuthnBrowser.startRegistration({ optionsJSON: options.body })
  } catch (error) {
    return warn(error.name === "InvalidStateError" ? "This device has a passkey for this service already." : "Your browser made no passkey. Try again.")
  }
  const added = await call("POST", "passkeys/verify", { response })
  if (added.status !== 201) return warn(added.body.message)
  say("Passkey " + named(added.body.name) + " is added. You can sign in with it from now on.")
  focusText()
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
    warn(problems.get(now.error) ?? "")
    return start(now)
  }).catch(() => warn("The server does not answer. Load the page again."))
}
addEventListener("hashchange", begin)
begin()
`

/** What the scripts of the service's own pages share. What others named is shown as text, never as markup. */
export const pageScript = `
const at = (id) => document.getElementById(id)
at("text").textContent = "Loading…"
// A key that is held down says its press once.
addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter") event.preventDefault()
}, true)
const say = (message) => { at("text").textContent = message }
const warn = (message) => {
  at("problem").textContent = message
  if (message !== "") at("problem").scrollIntoView({ block: "nearest" })
}
const named = (name) => "\\u201c" + name + "\\u201d"
const inWords = (seconds) => {
  const minutes = Math.ceil(seconds / 60)
  return minutes > 55 ? "an hour" : minutes === 1 ? "a minute" : minutes + " minutes"
}
const worded = (body) => body?.message === undefined ? body : {
  ...body,
  message: body.message.replace(/\\bin (\\d+) s\\.$/, (_, seconds) => "in " + inWords(Number(seconds)) + ".")
}
const call = async (method, path, body) => {
  const answer = await fetch(path.startsWith("/") ? path : "/auth/v1/" + path, {
    method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body)
  })
  return { status: answer.status, body: answer.status === 204 ? undefined : worded(await answer.json()) }
}
// One thing at a time, and what was wrong before it is no longer said.
const doing = (button, work) => button.addEventListener("click", async (event) => {
  button.disabled = true
  warn("")
  try {
    await work(event)
  } catch {
    warn("The server does not answer. Try again.")
  }
  button.disabled = false
  // What is disabled loses the keyboard.
  if (document.activeElement === document.body) button.focus()
})
const onEnter = (field, button) => at(field).addEventListener("keydown", (event) => {
  if (event.key === "Enter") at(button).click()
})
// The keyboard begins at what is said, and presses nothing there.
const focusText = () => at("text").focus()
const insecure = "Browsers cannot sign in here: the address of this service, BASE_URL, must be https."
`

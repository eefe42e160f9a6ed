/** What the scripts of the service's own pages share. What others named is shown as text, never as markup. */
export const pageScript = `
const at = (id) => document.getElementById(id)
const say = (message) => { at("text").textContent = message }
const warn = (message) => { at("problem").textContent = message }
const named = (name) => "\\u201c" + name + "\\u201d"
const call = async (method, path, body) => {
  const answer = await fetch("/auth/v1/" + path, {
    method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body)
  })
  return { status: answer.status, body: answer.status === 204 ? undefined : await answer.json() }
}
// One thing at a time, and what was wrong before it is no longer said.
const doing = (button, work) => button.addEventListener("click", async () => {
  button.disabled = true
  warn("")
  try {
    await work()
  } catch {
    warn("The server does not answer. Try again.")
  }
  button.disabled = false
})
const onEnter = (field, button) => at(field).addEventListener("keydown", (event) => {
  if (event.key === "Enter") at(button).click()
})
// The keyboard begins at what is said, and presses nothing there.
const focusText = () => at("text").focus()
const insecure = "Browsers cannot sign in here: the address of this service, BASE_URL, must be https."
`

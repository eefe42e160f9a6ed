import { useMe } from "../api/session.ts"
import { serviceUrl } from "../api/client.ts"
import { buttonClass } from "../ui/Button.tsx"
import { Empty } from "../ui/States.tsx"

/** For who is in no workspace. */
const NoWorkspace = () => {
  const me = useMe()
  return (
    <main id="screen">
      <Empty
        action={
          <a className={buttonClass("primary")} href="/sign-in">
            Look for invites
          </a>
        }
        command={`curl -X POST -H "Authorization: Bearer $DELIVERY_API_KEY" -H "Content-Type: application/json" -d '{"slug": "team", "name": "Team"}' ${serviceUrl}/v1/workspaces`}
        icon="home"
        title="You are in no workspace yet"
      >
        {me !== undefined && "email" in me && `You are signed in as ${me.email}. `}Ask for an invite to this address, or
        make a workspace of your own.
      </Empty>
    </main>
  )
}

export default NoWorkspace

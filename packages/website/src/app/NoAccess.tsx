import { useMe } from "../api/session.ts"
import { buttonClass } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { Empty } from "../ui/States.tsx"

/** In place of the screens of a workspace that the session cannot enter, or no longer. */
const NoAccess = ({ slug }: { readonly slug: string }) => {
  const me = useMe()
  return (
    <>
      <Header crumbs={[]} title="No access" />
      <Empty
        action={
          <a className={buttonClass("primary")} href="/sign-in">
            Your account
          </a>
        }
        icon="lock"
        title={`You cannot enter the workspace “${slug}”`}
      >
        {me !== undefined && `You are signed in as ${me.name}. `}It does not exist, you are no member of it, or this
        session was blocked in it. An admin of the workspace can let you in, or you sign in otherwise on the page of
        your account.
      </Empty>
    </>
  )
}

export default NoAccess

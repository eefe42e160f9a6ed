import { type ErrorComponentProps, useRouter } from "@tanstack/react-router"
import { FailureView } from "../api/FailureView.tsx"
import { Header } from "../ui/Header.tsx"
import { Empty } from "../ui/States.tsx"

/** In place of a screen that could not be shown. */
export const ScreenFailure = ({ error, reset }: ErrorComponentProps) => {
  const router = useRouter()
  return (
    <FailureView
      error={error}
      onRetry={() => {
        reset()
        void router.invalidate()
      }}
    />
  )
}

export const NotFound = () => (
  <>
    <Header crumbs={[]} title="Page not found" />
    <Empty icon="search" title="There is no page at this address">
      A link to it may be wrong, or its screen is not built yet. The sidebar and the search lead to what there is.
    </Empty>
  </>
)

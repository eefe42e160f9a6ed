import { type ErrorComponentProps, useRouter } from "@tanstack/react-router"
import { FailureView } from "../api/FailureView.tsx"

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

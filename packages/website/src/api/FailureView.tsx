import { Suspense } from "react"
import { later } from "../ui/later.tsx"
import type { FailureProps } from "./FailureText.tsx"

const FailureText = later(() => import("./FailureText.tsx"))

/** In place of content that could not be loaded. */
export const FailureView = (props: FailureProps) => (
  <Suspense fallback={null}>
    <FailureText {...props} />
  </Suspense>
)

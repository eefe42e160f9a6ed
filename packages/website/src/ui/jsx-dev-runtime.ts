import type { ElementType, Key, ReactElement } from "react"
import * as react from "react/jsx-dev-runtime"
import { visibleProps } from "./visibleProps.ts"

export { Fragment, type JSX } from "react/jsx-dev-runtime"

/** As in `jsx-runtime`, for `pnpm dev`. */
export const jsxDEV = (
  type: ElementType,
  props: Record<string, unknown>,
  key: Key | undefined,
  isStatic: boolean,
  source?: react.JSXSource,
  self?: unknown
): ReactElement => react.jsxDEV(type, visibleProps(type, props), key, isStatic, source, self)

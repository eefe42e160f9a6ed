import "./ui/base.css"
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterContextProvider, RouterProvider } from "@tanstack/react-router"
import { createRoot } from "react-dom/client"
import { queryClient } from "./api/queries.ts"
import { router } from "./app/router.tsx"
import { SessionGuard } from "./app/SessionGuard.tsx"
import { startLooks } from "./app/theme.ts"

startLooks()
createRoot(document.querySelector("#root")!).render(
  <QueryClientProvider client={queryClient}>
    <RouterProvider router={router} />
    <RouterContextProvider router={router}>
      <SessionGuard />
    </RouterContextProvider>
  </QueryClientProvider>
)

import { useEffect, useState } from "react"

const useIsOnline = (): boolean => {
  const [isOnline, setOnline] = useState(navigator.onLine)
  useEffect(() => {
    const change = () => setOnline(navigator.onLine)
    addEventListener("online", change)
    addEventListener("offline", change)
    return () => {
      removeEventListener("online", change)
      removeEventListener("offline", change)
    }
  }, [])
  return isOnline
}

/** Said on every screen while there is no network. */
const OfflineNote = () =>
  useIsOnline() ? null : (
    <p className="bg-warning-soft text-warning border-border border-b px-4 py-1.5" role="status">
      You are offline. Nothing can be changed until you are back.
    </p>
  )

export default OfflineNote

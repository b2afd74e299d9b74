import { useEffect, useState, useSyncExternalStore } from 'react'
import { hasMod } from '../../parts/keys.tsx'
import { remember, remembered } from '../../shell/browser-memory.ts'

const storageKey = 'millrace.inspector'

/** The size of the inspector, which this browser remembers and `Mod+.` changes. `isNarrow`: the window is narrow. */
export function useInspectorSize(): { isWide: boolean; isNarrow: boolean; setWide: (isWide: boolean) => void } {
  const [isWide, setIsWide] = useState(() => remembered(storageKey) === 'wide')
  const isNarrow = useSyncExternalStore(watchWidth, () => matchMedia(narrow).matches)
  const setWide = (wide: boolean) => {
    setIsWide(wide)
    remember(storageKey, wide ? 'wide' : 'panel')
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !hasMod(event) || event.key !== '.') return
      event.preventDefault()
      setIsWide((before) => {
        remember(storageKey, before ? 'panel' : 'wide')
        return !before
      })
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return { isWide, isNarrow, setWide }
}

/** Below this width, three columns do not fit. */
const narrow = '(max-width: 1023px)'

function watchWidth(tell: () => void): () => void {
  const query = matchMedia(narrow)
  query.addEventListener('change', tell)
  return () => query.removeEventListener('change', tell)
}

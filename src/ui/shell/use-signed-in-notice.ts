import { useEffect, useRef } from 'react'
import { useSearchParams } from 'wouter'
import { useToast } from '../parts/toast.tsx'

/** Says that the person has signed in with a credential, when the provider has just sent them back to this page. */
export function useSignedInNotice(): void {
  const toast = useToast()
  const [search, setSearch] = useSearchParams()
  const done = search.get('signed-in')
  const isSaid = useRef(false)
  useEffect(() => {
    if (done === null || isSaid.current) return
    isSaid.current = true
    toast.show({ text: `You are signed in with ${done}.` })
    setSearch(without('signed-in'), { replace: true })
  }, [done, toast, setSearch])
}

/** A change of the search that takes one parameter out. */
export function without(parameter: string): (search: URLSearchParams) => URLSearchParams {
  return (search) => {
    const others = new URLSearchParams(search)
    others.delete(parameter)
    return others
  }
}

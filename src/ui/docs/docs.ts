import { copyText } from '../parts/clipboard.ts'
import { SearchBox } from './search-box.ts'

/** Adds to a page of the documentation what needs JavaScript: the search, and buttons that copy code. */
function start(): void {
  addCopyButtons()
  new SearchBox().show()
  // On a narrow page the contents cover the text that a link in them leads to.
  document.getElementById('contents')?.addEventListener('click', ({ currentTarget, target }) => {
    const isLink = target instanceof Element && target.closest('a') !== null
    if (isLink && currentTarget instanceof HTMLElement && currentTarget.matches(':popover-open')) {
      currentTarget.hidePopover()
    }
  })
}

function addCopyButtons(): void {
  for (const block of document.querySelectorAll('.docs-code')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'docs-copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      const isCopied = await copyText(block.querySelector('code')?.textContent ?? '')
      button.textContent = isCopied ? 'Copied' : 'Select and copy it yourself'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2000)
    })
    block.append(button)
  }
}

start()

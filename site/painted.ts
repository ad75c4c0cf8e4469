/** When the page has been painted once: what it need not show waits for this. A page in the background is never painted, and waits a moment. */
export const painted: Promise<void> = new Promise((resolve) => {
  requestAnimationFrame(() => setTimeout(resolve))
  setTimeout(resolve, 500)
})

/** Drawing at the screen's pace: however many events came, a view is drawn once a frame, from the latest. */

export function onceAFrame(draw) {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      draw();
    });
  };
}

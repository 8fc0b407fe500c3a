/** The style sheet of the HTML report. System fonts only: the page may ask for nothing. */
export const style = `
:root{
--paper:#faf8f3;--card:#fffefb;--ink:#1d1e22;--soft:#5c5f68;--line:#e3dfd4;--code:#f3f0e8;
--good:#1b7046;--good-bg:#e2f1e8;--bad:#ab2a20;--bad-bg:#fae4e1;--warn:#855500;--warn-bg:#faecd0;
--accent:#2a5aa8;--accent-bg:#e1eaf7;--neutral:#5c5f68;--neutral-bg:#ebe8df;--fault:rgba(171,42,32,.09);--shade:rgba(29,30,34,.16);
--series-1:#2a5aa8;--series-2:#b8541a;--series-3:#1b7046;--series-4:#7a4aa8;--series-5:#6b6e76;
--serif:"Iowan Old Style","Palatino Linotype",Palatino,"URW Palladio L","Book Antiqua",Georgia,"Noto Serif",serif;
--sans:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;
--mono:ui-monospace,"SF Mono",SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace}
@media (prefers-color-scheme:dark){:root{
--paper:#141518;--card:#1b1d21;--ink:#e8e6e1;--soft:#a3a6ae;--line:#31343a;--code:#202328;
--good:#62c793;--good-bg:#173024;--bad:#f48f86;--bad-bg:#3b1f1c;--warn:#e6b65c;--warn-bg:#352a14;
--accent:#8db4f5;--accent-bg:#1d2a40;--neutral:#a3a6ae;--neutral-bg:#282b30;--fault:rgba(244,143,134,.13);--shade:rgba(0,0,0,.45);
--series-1:#8db4f5;--series-2:#f0a06a;--series-3:#62c793;--series-4:#c3a0ee;--series-5:#a3a6ae}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--paper);color:var(--ink);font:400 1rem/1.55 var(--sans);text-rendering:optimizeLegibility}
main{max-width:76rem;margin:0 auto;padding:3.5rem 2.5rem 4rem}
p{margin:0 0 .75rem;max-width:44rem}
a{color:var(--accent);text-underline-offset:.15em;text-decoration-thickness:.06em}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.soft{color:var(--soft)}.small{font-size:.86rem}
td,th,dd,code,blockquote,.name,.claim,.because{unicode-bidi:isolate}

header{margin-bottom:2.25rem}
.eyebrow{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;margin:0 0 1.1rem;max-width:none;font-size:.86rem;color:var(--soft)}
.eyebrow b{color:var(--ink);font-weight:600}
.eyebrow b,.eyebrow span:last-of-type{font-family:var(--mono);font-size:.95em}
h1{margin:0 0 1rem;max-width:24em;font:500 clamp(1.6rem,1.1rem + 2vw,2.5rem)/1.18 var(--serif);letter-spacing:-.012em;text-wrap:balance}
.hypothesis{max-width:46rem;font:400 1.1rem/1.55 var(--serif);color:var(--soft);text-wrap:pretty}
.hypothesis span{font:600 .86rem var(--sans);color:var(--ink);margin-right:.35em}

.verdict{display:grid;grid-template-columns:auto 1fr;gap:.75rem 2.5rem;align-items:center;padding:1.6rem 1.9rem 1.4rem;border-radius:.5rem;border-left:.4rem solid var(--tone);background:var(--tone-bg)}
.upheld,.ok{--tone:var(--good);--tone-bg:var(--good-bg)}
.refuted,.failed{--tone:var(--bad);--tone-bg:var(--bad-bg)}
.inconclusive{--tone:var(--warn);--tone-bg:var(--warn-bg)}
.verdict .word{margin:0;font:600 clamp(1.9rem,1.5rem + 1.4vw,2.6rem)/1 var(--serif);color:var(--tone);letter-spacing:-.01em}
.verdict .word::first-letter{text-transform:uppercase}
.verdict .word{text-transform:capitalize}
.verdict .sign{display:inline-grid;place-items:center;width:1.5em;height:1.5em;margin-right:.3em;border-radius:50%;background:var(--tone);color:var(--paper);font:700 .62em/1 var(--sans);vertical-align:.16em}
.verdict .why p{margin:0 0 .2rem;max-width:42rem}
.verdict dl{grid-column:1/-1;display:flex;flex-wrap:wrap;gap:.6rem 2.5rem;margin:.5rem 0 0;padding-top:1rem;border-top:1px solid color-mix(in srgb,var(--tone) 28%,transparent)}
.verdict dt{font-size:.8rem;color:var(--soft)}
.verdict dd{margin:0;font-weight:600;font-variant-numeric:tabular-nums}
.verdict .limit{grid-column:1/-1;margin:0;max-width:none;font-size:.92rem;color:var(--soft)}
.verdict .limit strong{color:var(--ink);font-weight:600}

nav{display:flex;flex-wrap:wrap;gap:.25rem 1.4rem;margin:1.5rem 0 0;font-size:.92rem}
nav a{color:var(--soft);text-decoration:none;padding:.2rem 0}
nav a:hover{color:var(--accent);text-decoration:underline}

section[id]{display:grid;grid-template-columns:9.5rem minmax(0,1fr);gap:0 2rem;padding-top:2.1rem;margin-top:2.1rem;border-top:1px solid var(--line)}
h2{margin:0;font:500 1.35rem/1.3 var(--serif);position:sticky;top:1rem;align-self:start}
h3{margin:1.9rem 0 .6rem;font:600 .95rem/1.4 var(--sans);overflow-wrap:anywhere}
.body>h3:first-child{margin-top:0}
.body>:last-child{margin-bottom:0}

.claims{list-style:none;margin:0;padding:0}
.claims li{display:grid;grid-template-columns:1.7rem minmax(0,1fr) minmax(10rem,auto);gap:0 .4rem;align-items:baseline;padding:.6rem 0;border-top:1px solid var(--line)}
.claims li:first-child{border-top:0;padding-top:.1rem}
.claims .sign,td .sign{color:var(--tone);font-weight:700}
.claims p{margin:0}
.claims .claim{font-size:1.02rem}
.claims abbr{margin-left:.35rem;font-size:.8rem;color:var(--soft);text-decoration:none;cursor:help}
.claims .because{max-width:22rem;text-align:right;font-size:.92rem;color:var(--soft)}
.claims .because strong{color:var(--tone);font-weight:600}

.scroll{overflow-x:auto;margin:0 0 .9rem;max-width:100%;background:
linear-gradient(to right,var(--paper) 40%,transparent) left/2.5rem 100% no-repeat local,
linear-gradient(to left,var(--paper) 40%,transparent) right/2.5rem 100% no-repeat local,
linear-gradient(to right,var(--shade),transparent) left/.7rem 100% no-repeat scroll,
linear-gradient(to left,var(--shade),transparent) right/.7rem 100% no-repeat scroll}
.faults td:nth-child(n+4){min-width:11rem}.faults td:nth-child(3){white-space:nowrap}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums;min-width:100%}
th,td{padding:.45rem 1rem .45rem 0;text-align:left;vertical-align:baseline}
th:last-child,td:last-child{padding-right:.2rem}
thead th{font-weight:500;font-size:.86rem;line-height:1.35;color:var(--soft);border-bottom:1px solid var(--soft);vertical-align:bottom;min-width:3.6rem}
tbody th{font-weight:500}
tbody tr+tr:not(.reason)>*{border-top:1px solid var(--line)}
table.faults tr:not(.first)>*{border-top:0;padding-top:.1rem}
tbody tr.first>*{padding-top:.6rem}
.number{text-align:right;white-space:nowrap}
thead .number{white-space:normal}
td small{display:block;color:var(--soft);font-size:.82em}
.unit{color:var(--soft);font-weight:400}.unit::before{content:"("}.unit::after{content:")"}
.measures tbody th{min-width:9rem}
.measures td{font-size:1.02rem}
tr.failed td,tr.inconclusive td{color:var(--ink)}
td.outcome{white-space:nowrap}
td.condition{min-width:9.5rem}
tr.reason td{padding-top:0;color:var(--soft);max-width:34rem}
.path,.hash{font-family:var(--mono);font-size:.8rem}
.path{min-width:19rem;overflow-wrap:anywhere}
.hash{min-width:13rem;overflow-wrap:anywhere;color:var(--soft)}
.settings th,.settings td{font:400 .82rem/1.5 var(--mono)}
blockquote{margin:1.6rem 0 0;padding:.2rem 0 .2rem 1.2rem;border-left:3px solid var(--line);font:400 1.05rem/1.55 var(--serif);max-width:44rem;overflow-wrap:anywhere}

figure{margin:0 0 2.6rem}
figure:last-child{margin-bottom:0}
figcaption{margin-bottom:.9rem;font-weight:600;font-size:.98rem}
.chart svg{display:block;width:100%;height:auto}
.on-narrow{display:none}
.lane,.stack .row{display:grid;grid-template-columns:9.5rem minmax(0,1fr);gap:0 .9rem}
.lane .name,.stack .name{align-self:center;font-size:.88rem;overflow-wrap:anywhere}
.track{position:relative;height:2.1rem}
.span{position:absolute;top:.25rem;bottom:.25rem;overflow:hidden;padding:0 .45rem;border-radius:.2rem;border:1px solid;font-size:.82rem;line-height:1.5rem;white-space:nowrap;text-overflow:ellipsis;min-width:2px}
.good{color:var(--good);background:var(--good-bg)}.bad{color:var(--bad);background:var(--bad-bg)}
.warn{color:var(--warn);background:var(--warn-bg)}.accent{color:var(--accent);background:var(--accent-bg)}
.neutral{color:var(--neutral);background:var(--neutral-bg)}
.span.bad{background-image:repeating-linear-gradient(135deg,transparent 0 6px,color-mix(in srgb,var(--bad) 9%,transparent) 6px 9px)}
.tick{position:absolute;top:0;bottom:0;border-left:1px solid var(--line)}
.band{position:absolute;top:0;bottom:0;background:var(--fault)}
.lane.fault .name{color:var(--bad)}
.lane.axis .track{height:1.4rem;border-top:1px solid var(--soft)}
.lane.axis span{position:absolute;top:.25rem;transform:translateX(-50%);font-size:.78rem;color:var(--soft);white-space:nowrap;font-variant-numeric:tabular-nums}
.lane.axis .first{transform:none}.lane.axis .last{transform:translateX(-100%)}
.span.covered{padding-left:1rem}.span.tiny{color:transparent!important;border-color:var(--soft);padding:0}
.mark{position:absolute;top:.33rem;display:inline-grid;place-items:center;width:1.4rem;height:1.4rem;margin-left:-.7rem;border-radius:50%;background:var(--ink);color:var(--paper);font:600 .75rem/1 var(--sans);z-index:1}
.marks{list-style:none;margin:.9rem 0 0;padding:0;font-size:.88rem}
.marks li{display:flex;gap:.6rem;align-items:baseline;padding:.15rem 0}
.marks .mark{position:static;margin:0;flex:none}
.marks .at{min-width:4.2rem;text-align:right;font-variant-numeric:tabular-nums;color:var(--soft);flex:none}
.stack .row{margin-bottom:.5rem}
.stack .bar{display:flex}
.block{min-width:3px;overflow:hidden;padding:.35rem .5rem;border:1px solid;border-radius:.2rem;margin-right:2px;font-size:.82rem;white-space:nowrap;text-overflow:ellipsis}
.stack .parts{margin:.2rem 0 0;font-size:.82rem;color:var(--soft)}
.block em{font-style:normal;font-weight:600}
.stack .name small{display:block;color:var(--soft);font-size:.92em}
.strip .name{align-self:start}
.strip .bar{flex-wrap:wrap;row-gap:2px;align-items:flex-start}
.strip .block{box-sizing:border-box;flex:none;padding:.2rem .35rem;line-height:1.25;background-image:linear-gradient(to right,color-mix(in srgb,currentColor 10%,transparent) calc(var(--head) - 1px),color-mix(in srgb,currentColor 45%,transparent) calc(var(--head) - 1px) var(--head),transparent var(--head))}
.strip .block em,.strip .block i{display:block;overflow:hidden;text-overflow:ellipsis;font-variant-numeric:tabular-nums}
.strip .block i{font-style:normal;font-size:.92em}
.strip .slim{display:grid;place-items:center;padding:.2rem 0}
.strip .slim em{overflow:visible}
.tones{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;list-style:none;margin:.9rem 0 0;padding:0;font-size:.86rem;color:var(--soft)}
.tones li{display:flex;align-items:center;gap:.5rem}
.tones .block{flex:none;width:1.5rem;height:1rem;padding:0;margin:0;--head:0%}

pre{margin:0 0 .9rem;padding:.8rem 1rem;white-space:pre-wrap;overflow-wrap:anywhere;background:var(--code);border-radius:.35rem;font:400 .84rem/1.6 var(--mono);tab-size:2}
code{font-family:var(--mono);font-size:.94em}pre code{font-size:1em}
pre span{display:block;padding-left:2em;text-indent:-2em}
details{margin-bottom:.6rem}summary{cursor:pointer;padding:.3rem 0;font-weight:600;font-size:.95rem;overflow-wrap:anywhere}summary .soft{font-weight:400;margin-left:.4rem}
details[open] summary{margin-bottom:.4rem}
.steps{margin:0;padding-left:1.3rem}
.steps li{padding-left:.3rem;margin-bottom:1.2rem}
.steps li::marker{color:var(--soft);font-variant-numeric:tabular-nums}
.facts{margin:0}
.facts div{display:grid;grid-template-columns:8rem minmax(0,1fr);gap:0 1rem;padding:.4rem 0;border-top:1px solid var(--line)}
.facts div:first-child{border-top:0;padding-top:0}
.facts dt{color:var(--soft);font-size:.92rem}
.facts dd{margin:0;overflow-wrap:anywhere}
footer{margin-top:3rem;padding-top:1.2rem;border-top:1px solid var(--line);font-size:.88rem;color:var(--soft)}

@media (max-width:52rem){
main{padding:1.75rem 1.15rem 3rem}
section[id]{display:block;padding-top:1.6rem;margin-top:1.6rem}
h2{position:static;margin-bottom:.9rem}
.verdict{grid-template-columns:minmax(0,1fr);padding:1.25rem 1.2rem 1.1rem}
.verdict dl{gap:.6rem 1.6rem}
.claims li{grid-template-columns:1.7rem minmax(0,1fr)}
.claims .because{grid-column:2;text-align:left;max-width:none}
.lane,.stack .row{grid-template-columns:minmax(0,1fr)}
.lane .name,.stack .name{font-size:.82rem;color:var(--soft);padding-top:.3rem}
.lane.axis .name{display:none}
.lane.axis .minor{display:none}
.facts div{grid-template-columns:minmax(0,1fr)}
}
@media (max-width:36rem){.on-wide{display:none}.on-narrow{display:block}}
@media print{
:root{--paper:#fff;--card:#fff;--code:#f6f6f4}
body{font-size:10pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main{max-width:none;padding:0}
nav{display:none}
h2{position:static}
section[id]{grid-template-columns:6rem minmax(0,1fr);gap:0 1rem}
figure,.claims li,tr,pre,.verdict{break-inside:avoid}
h2,h3,figcaption{break-after:avoid}
.scroll{overflow:visible}
a{color:inherit;text-decoration:none}
}
`

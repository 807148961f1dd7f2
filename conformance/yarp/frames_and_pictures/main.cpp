// Opens YARP's own transformServer, transformClient, fakeFrameGrabber and remote_grabber (in YARP 4
// frameTransformServer, frameTransformClient and frameGrabber_nwc_yarp) beside a simulation: the pose that a robot sends is read back, the grabber's pictures are shown on a visual, and a camera of the robot sees them.
// Arguments: child frame, port of the camera, port of the pictures, file of the picture (ppm).
// The headers of YARP 3.5 need these first.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <yarp/conf/version.h>
#include <yarp/dev/IFrameTransform.h>
#include <yarp/dev/all.h>
#include <yarp/os/all.h>
#include <yarp/sig/all.h>

#include "../stock_plugins.h"

using namespace yarp::dev;
using namespace yarp::os;

static bool open(PolyDriver& device, const std::string& text)
{
    Property options;
    options.fromString(text);
    const bool good = device.open(options);
    std::printf("%s open %s\n", good ? "ok" : "FAILED", options.find("device").asString().c_str());
    return good;
}

static void poses(IFrameTransform* frames, const std::string& child)
{
    for (int count = 0, tries = 0; count < 5 && tries < 600; ++tries, Time::delay(0.05)) {
        yarp::sig::Matrix pose;
        if (!frames->getTransform(child, "/inertial", pose))
            continue;
        std::printf("pose");
        for (int k = 0; k < 12; ++k)
            std::printf(" %.12g", pose(k / 4, k % 4));
        std::printf("\n");
        ++count;
    }
}

static void pictures(IFrameGrabberImage* camera)
{
    yarp::sig::ImageOf<yarp::sig::PixelRgb> picture;
    for (int count = 0; count < 10; ++count, Time::delay(0.2)) {
        if (!camera->getImage(picture) || picture.width() < 4)
            continue;
        std::printf("picture");
        for (int row = 1; row < 4; row += 2)
            for (int column = 1; column < 4; column += 2) {
                const auto& pixel = picture.pixel(column * picture.width() / 4, row * picture.height() / 4);
                std::printf(" %d %d %d", pixel.r, pixel.g, pixel.b);
            }
        std::printf("\n");
    }
}

int main(int argc, char** argv)
{
    if (argc != 5)
        return 2;
    Network network;
    register_plugins();
    const std::string child = argv[1], seen = argv[2], shown = argv[3], file = argv[4];
    PolyDriver server, client, grabber, camera;
    const std::string pictures_of = "(name " + shown + ") (mode none) (width 64) (height 64) (freq 20) (src " + file + ")";
#if YARP_VERSION_MAJOR >= 4
    bool good = open(server, "(device frameTransformServer)");
    good = good && open(client, "(device frameTransformClient) (config_name ftc_sub_yarp_only.xml)");
    good = good && open(grabber, "(device deviceBundler) (wrapper_device frameGrabber_nws_yarp) (attached_device fakeFrameGrabber) "
        + pictures_of);
    good = good && open(camera, "(device frameGrabber_nwc_yarp) (local /tester/camera) (remote " + seen + ")");
#else
    bool good = open(server, "(device transformServer) (ROS (enable_ros_publisher 0) (enable_ros_subscriber 0))");
    good = good && open(client, "(device transformClient) (local /tester/frames) (remote /transformServer)");
    good = good && open(grabber, "(device frameGrabber_nws_yarp) (subdevice fakeFrameGrabber) " + pictures_of);
    good = good && open(camera, "(device remote_grabber) (local /tester/camera) (no_rpc) (remote " + seen + ")");
#endif
    IFrameTransform* frames = nullptr;
    IFrameGrabberImage* images = nullptr;
    if (!good || !client.view(frames) || !camera.view(images))
        return 1;
    poses(frames, child);
    pictures(images);
    std::fflush(stdout);
    std::_Exit(0);  // frameTransformServer of YARP 4.0 crashes when it is closed
}
